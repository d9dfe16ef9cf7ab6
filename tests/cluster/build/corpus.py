"""Documents of several formats, short to encode and long enough on disk to be cut; indexes compared file by file."""

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from densephrases.cluster.build.plan import TaskSize
from densephrases.index.kinds import Quantizer
from densephrases.index.manifest import Manifest
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.readers.read import read_documents

SIZE = TaskSize(least=40_000, most=160_000)
PLACES = ("Paris", "Rome", "Oslo", "Lima", "Cairo", "Delhi")
PADDING = " " * 4000  # between the values of an object, where it is nothing


def line(number: int, identifier: str = "") -> str:
    text = f"Person {number} was born in {PLACES[number % 6]} in {1800 + number}. They died in {PLACES[number % 5]}."
    named = f'"id": {json.dumps(identifier)}, ' if identifier else ""
    return f'{{{named}"title": "Person {number}", "text": {json.dumps(text)}{PADDING}}}\n'


def write_corpus(folder: Path) -> Path:
    """Two folders of files; one is cut into ranges, has lines that are no documents, and leaves out most ids."""
    for name in ("many", "few"):
        (folder / name).mkdir(parents=True)
    lines = [line(number, f"person-{number}" if number % 7 == 0 else "") for number in range(48)]
    lines[20], lines[41] = "no JSON\n", "\n\n"
    (folder / "many" / "people.jsonl").write_text("".join(lines))
    for place in PLACES:
        (folder / "few" / f"{place}.txt").write_text(f"{place} is a city. It has {len(place)} letters.")
    (folder / "few" / "empty.md").write_text("")
    (folder / "few" / "tower.md").write_text("# Tower\n\nThe tower was built by Anna Berg.\n\n## Visitors\n\nMany.\n")
    return folder


def sources(folder: Path) -> list[Path]:
    return [folder / "many", folder / "few"]


@cache
def corpus() -> Path:
    return write_corpus(Path(mkdtemp(prefix="densephrases-corpus-")) / "corpus")


@cache
def plain_index(quantizer: Quantizer | None = None) -> Path:
    """What `densephrases index` makes of the corpus."""
    folder = corpus().parent / f"plain-{quantizer}"
    PhraseIndex.create(folder, read_documents(sources(corpus())), quantizer=quantizer)
    return folder


def assert_same(plain: Manifest, built: Manifest) -> None:
    """Settings, roots, and each file of each segment."""
    assert built.settings == plain.settings
    assert built.roots == plain.roots
    assert not built.building
    assert len(built.segments) == len(plain.segments)
    for one, other in zip(plain.segments, built.segments, strict=True):
        assert (one.documents, one.passages, one.vectors) == (other.documents, other.passages, other.vectors)
        assert (one.candidates, one.partial) == (other.candidates, other.partial)
        assert one.files == other.files
