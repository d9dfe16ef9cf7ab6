"""An index of the articles of a SQuAD file, for the commands that ask its questions of all of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress

if TYPE_CHECKING:
    from densephrases.evaluate.open_domain import Advance
    from densephrases.index.progress import Progress as BuildProgress
    from densephrases.model.encoder import Encoder
    from densephrases.search.phrase_index import PhraseIndex
    from densephrases.text.documents import Document

ArticleIndexOption = Annotated[
    Path | None, typer.Option(help="Folder to keep the index of the file's articles in [default: not kept].")
]

progress_console = Console(stderr=True)


@contextmanager
def article_index(folder: Path | None, articles: list["Document"], encoder: "Encoder") -> Iterator["PhraseIndex"]:
    """In `folder`, where it is found again, or in a temporary folder."""
    with TemporaryDirectory() as temporary:
        yield _opened(folder or Path(temporary) / "index", articles, encoder)


def _opened(folder: Path, articles: list["Document"], encoder: "Encoder") -> "PhraseIndex":
    from densephrases.index.manifest import MANIFEST_FILE
    from densephrases.search.phrase_index import PhraseIndex

    with Progress(console=progress_console, transient=True) as progress:
        bar = progress.add_task("indexing", total=len(articles))

        def show(so_far: "BuildProgress") -> None:
            progress.update(bar, completed=so_far.documents + so_far.unchanged)

        if (folder / MANIFEST_FILE).is_file():
            opened = PhraseIndex.open(folder, encoder)
            opened.add(articles, show)
            return opened
        return PhraseIndex.create(folder, articles, model=encoder, progress=show)


@contextmanager
def progress_bar(name: str, total: int) -> Iterator["Advance"]:
    with Progress(console=progress_console, transient=True) as progress:
        bar = progress.add_task(name, total=total)
        yield lambda count: progress.advance(bar, count)
