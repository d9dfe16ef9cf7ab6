"""Pictures of the page for the documents.

python -m tests.serve.screenshots INDEX [--out docs/images]

INDEX is one of the sample articles, as `densephrases demo --folder INDEX` makes it. For the picture of two tasks
one query encoder is trained first, on key words, which takes some seconds. The fonts are those of the machine.
"""

import argparse
import runpy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from PIL import Image

from densephrases.sample import SAMPLE_QUESTIONS
from densephrases.search.phrase_index import PhraseIndex

from .browser import MISSING, Page, chromium, is_installed
from .running import Running, running

EXAMPLE = Path(__file__).parents[2] / "examples" / "adapt.py"
COLOURS = 128
ANSWERED = "Which farmer was the first to see Halley's Comet return as foretold?"
HALF_SURE = "Where did Jane Goodall start to watch chimpanzees in 1960?"
UNANSWERED = "What did Kant think about football?"
TASK = "key-words"
SHOWN_WORDS = "deep Lake Baikal"
# Articles whose questions are not learned, so that the picture shows nothing that was learned by heart.
HELD_OUT = ("Apollo 11", "Lake Baikal", "Maple syrup", "Mount Fuji", "Octopus", "Violin")


class Camera:
    """Takes pictures of a page in its various states."""

    def __init__(self, page: Page, out: Path) -> None:
        self._page = page
        self._out = out

    def open(self, awaited: str, **values: str) -> None:
        self._page.open(f"#{urlencode(values)}")
        self._page.one(awaited)

    def take(self, name: str) -> None:
        self._page.run("document.activeElement.blur()")
        time.sleep(0.3)  # until everything has been painted
        picture = Image.open(BytesIO(self._page.browser.get_screenshot_as_png())).convert("RGB")
        self._out.mkdir(parents=True, exist_ok=True)
        picture.quantize(COLOURS, dither=Image.Dither.NONE).save(self._out / f"{name}.png", optimize=True)


def with_task_model(index: PhraseIndex, folder: Path) -> PhraseIndex:
    """The index with a model that has a second query encoder, for key words."""
    key_words = runpy.run_path(str(EXAMPLE))["key_words"]
    learned = [q for q in SAMPLE_QUESTIONS if q.title not in HELD_OUT]
    words, answers = [key_words(q.question) for q in learned], [q.answers for q in learned]
    adapted = PhraseIndex.open(index.folder.folder).fit(words, answers, epochs=4, learning_rate=1e-4)
    adapted.save(folder, TASK)
    return PhraseIndex.open(index.folder.folder, folder)


def take_all(page: Page, camera: Camera) -> None:
    """Everything that needs a running service."""
    page.look(height=800, scale=1)
    camera.open(".examples")
    camera.take("page-empty")
    camera.open(".answer", q=ANSWERED)
    camera.take("page")
    camera.open("#notice h2", q=HALF_SURE)
    camera.take("page-not-sure")
    camera.open("#notice h2", q=UNANSWERED)
    camera.take("page-unsure")
    camera.open(".answer", q=ANSWERED)
    page.one(".show").click()
    page.one("#document-text mark")
    camera.take("page-document")
    page.look(height=800, dark=True)
    camera.open(".answer", q=ANSWERED, unit="sentence")
    camera.take("page-dark")
    page.look(width=390, height=800)
    camera.open(".answer", q=ANSWERED)
    camera.take("page-phone")
    page.look(height=800)
    page.open("docs")
    page.one(".operation")
    camera.take("page-api")


def compare(page: Page, camera: Camera) -> None:
    page.look(height=800)
    for _ in range(2):  # the first time the query encoder has to be loaded
        camera.open(".compared", q=SHOWN_WORDS, compare=TASK)
    camera.take("page-compare")


@contextmanager
def camera_of(service: Running, out: Path) -> Iterator[tuple[Page, Camera]]:
    with chromium() as browser:
        page = Page(browser, f"http://127.0.0.1:{service.port}")
        yield page, Camera(page, out)


def main() -> None:
    parser = argparse.ArgumentParser(description="Take pictures of the page.")
    parser.add_argument("index", type=Path, help="an index of the sample articles")
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    options = parser.parse_args()
    if not is_installed():
        parser.error(MISSING)
    index = PhraseIndex.open(options.index)
    with running(index) as service, camera_of(service, options.out) as (page, camera):
        take_all(page, camera)
        page.look(height=800)
        page.open()
        page.one(".examples")
        service.server.should_exit = True
        service.thread.join()
        page.ask(ANSWERED)
        page.one("#notice button")
        camera.take("page-error")
    with (
        TemporaryDirectory() as scratch,
        running(with_task_model(index, Path(scratch) / "model")) as service,
        camera_of(service, options.out) as (page, camera),
    ):
        compare(page, camera)


if __name__ == "__main__":
    main()
