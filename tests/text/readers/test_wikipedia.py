"""A hand-made dump with everything that is left out."""

import bz2
import sys
import tracemalloc
from pathlib import Path

import pytest

from densephrases.errors import DataError, MissingExtraError
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers.wikipedia import read_dump

SAMPLE = Path(__file__).parent / "wikipedia-sample.xml"
PAGE = "<page><title>T</title><ns>0</ns><id>{}</id><revision><id>{}</id><text>{}</text></revision></page>"


def write(folder: Path, *pages: str, end: str = "</mediawiki>") -> Path:
    path = folder / "a.xml"
    path.write_text("<mediawiki>" + "".join(pages) + end, encoding="utf-8")
    return path


@pytest.mark.parametrize("streams", [1, 2])
def test_sample(tmp_path: Path, streams: int) -> None:
    """Wikipedia's own dumps are many bz2 streams in one file."""
    pytest.importorskip("mwparserfromhell")
    content = SAMPLE.read_bytes()
    middle = len(content) // streams
    path = tmp_path / "dewiki-20240101-pages-articles.xml.bz2"
    path.write_bytes(bz2.compress(content[:middle]) + bz2.compress(content[middle:]))
    text = (
        "Ann Smith was a chemist from Ürümqi. This needs no disambiguation.\n\n"
        "She wrote two books:\n\n"
        "Both were read widely."
    )
    assert list(read_dump(path)) == [
        Document("12", text, "Ann Smith", {"revision": 1001}),
        Document("19", "Ürümqi is a city \u2013 a large one.", "Ürümqi", {"revision": 1008}),
    ]


def test_of_several_revisions_the_last(tmp_path: Path) -> None:
    pytest.importorskip("mwparserfromhell")
    older = "<revision><id>1</id><text>old</text></revision>"
    path = write(tmp_path, PAGE.format(1, 2, "new").replace("<revision>", older + "<revision>"))
    assert list(read_dump(path)) == [Document("1", "new", "T", {"revision": 2})]


def test_other_content_models(tmp_path: Path) -> None:
    pytest.importorskip("mwparserfromhell")
    page = PAGE.format(1, 2, "body").replace("<text>", "<model>css</model><text>")
    assert list(read_dump(write(tmp_path, page))) == []


def test_a_bad_page_is_skipped_alone(tmp_path: Path) -> None:
    pytest.importorskip("mwparserfromhell")
    skipped, last = read_dump(write(tmp_path, PAGE.format(1, "odd", "a"), PAGE.format(2, 3, "b")))
    assert isinstance(skipped, Skipped)
    assert skipped.place.endswith("a.xml, page 1")
    assert last == Document("2", "b", "T", {"revision": 3})


@pytest.mark.parametrize(
    ("content", "message"),
    [("<rss><page/></rss>", "has the root <rss>"), ("no XML", "is not XML"), ("", "is not XML")],
)
def test_other_files(tmp_path: Path, content: str, message: str) -> None:
    pytest.importorskip("mwparserfromhell")
    path = tmp_path / "a.xml"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        list(read_dump(path))


def test_pages_before_the_damage_are_read(tmp_path: Path) -> None:
    pytest.importorskip("mwparserfromhell")
    documents = read_dump(write(tmp_path, PAGE.format(1, 2, "a"), end="<page><tit"))
    assert next(documents) == Document("1", "a", "T", {"revision": 2})
    with pytest.raises(DataError, match="is not XML"):
        next(documents)


def test_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mwparserfromhell", None)
    monkeypatch.delitem(sys.modules, "densephrases.text.readers.wikitext", raising=False)
    with pytest.raises(MissingExtraError, match=r"densephrases\[wiki\]"):
        next(read_dump(SAMPLE))


def test_memory_does_not_grow_with_the_dump(tmp_path: Path) -> None:
    pytest.importorskip("mwparserfromhell")
    redirect = PAGE.replace("<revision>", '<redirect title="x" /><revision>')
    path = write(tmp_path, PAGE.format(0, 0, "a"), redirect.format(1, 2, "word " * 200) * 20_000)
    documents = read_dump(path)
    next(documents)
    tracemalloc.start()
    assert list(documents) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
