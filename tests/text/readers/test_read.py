"""Files and folders as documents, and what happens to everything else."""

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from densephrases.errors import ConfigError, DataError, MissingExtraError
from densephrases.text.documents import Document, Skipped
from densephrases.text.layout import Layout, Section
from densephrases.text.readers import read as read_module
from densephrases.text.readers.folders.found_files import NO_PLAIN_TEXT, Places, kind_of, text_bytes
from densephrases.text.readers.folders.left_out import Selection
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.read import read_documents

COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}
ODD = "Ann\r\nmet\tBob.\x0b\u2028 e\u0301 \U0001f600 "


def write(folder: Path, files: dict[str, bytes | str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def read(*paths: Path, **options: Any) -> list[Document]:
    return list(read_documents(paths, **options))


def size_of(path: Path, **options: Any) -> int:
    return sum(text_bytes(file.path) for file in Places.from_paths([path], **options).files())


@pytest.mark.parametrize(
    ("name", "content", "document"),
    [
        ("a.txt", ODD, Document("a.txt", ODD, "a")),
        ("a.text", "\ufeffx", Document("a.text", "x", "a")),
        ("README", "x", Document("README", "x", "README")),
        ("main.rs", "x", Document("main.rs", "x", "main.rs")),
        ("a.md", "# T\r\n*x*", Document("a.md", "T\n\nx", "T", layout=Layout((Section(0, 1, 1, "T"),)))),
        ("b.markdown", "x", Document("b.markdown", "x", "b")),
        ("a.html", "<title>T</title><p>x<p>y", Document("a.html", "x\n\ny", "T")),
        ("b.HTM", "x", Document("b.HTM", "x", "b")),
        ("a.jsonl", '{"id": "i", "text": "x"}', Document("i", "x")),
        ("a.ndjson", '{"text": "x"}', Document("a.ndjson#1", "x")),
        ("a.json", '[{"id": "i", "text": "x"}]', Document("i", "x")),
        ("a.csv", "id,text\ni,x", Document("i", "x")),
        ("a.tsv", "id\ttext\ni\tx", Document("i", "x")),
        ("b.csv", "Name,Age\nAnn,7", Document("b.csv", "Name: Ann, Age: 7.", "b")),
    ],
)
@pytest.mark.parametrize("suffix", ["", *COMPRESSORS])
def test_formats(tmp_path: Path, name: str, content: str, document: Document, suffix: str) -> None:
    compressed = COMPRESSORS.get(suffix, bytes)(content.encode())
    (read_document,) = read(write(tmp_path, {name + suffix: compressed}) / (name + suffix), strict=True)
    same_id = document.id.replace(name, name + suffix)
    found = replace(read_document, file=None, metadata=read_document.own_metadata())
    assert found == replace(document, id=same_id)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    text = "Café Zürich: 5 €"
    files = {
        "a.csv": f"Ort;Preis\n{text};1,5\n",
        "b.html": f"<p>{text}",
        "c.jsonl": json.dumps({"text": text}, ensure_ascii=False),
        "d.md": f"# {text}\n",
        "e.txt": text,
    }
    write(tmp_path, {name: content.encode(encoding) for name, content in files.items()})
    assert [document.text for document in read(tmp_path, strict=True)] == [
        f"Ort: {text}, Preis: 1,5.",
        text,
        text,
        text,
        text,
    ]
    assert size_of(tmp_path) == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_books_mail_and_office(tmp_path: Path) -> None:
    """Found by their suffixes; each reader has tests of its own."""
    from tests.text.readers.archives.test_epub import book
    from tests.text.readers.archives.test_mail import message
    from tests.text.readers.formats.test_docx import made

    document = made()
    document.add_paragraph("Hello.")
    document.save(tmp_path / "b.DOCX")
    book(tmp_path / "a.epub")
    write(
        tmp_path, {"c.eml": message(Subject="Hi").as_bytes(), "d.docx": b"no document", "e.pptx": b"PK", "f.odt": b"x"}
    )
    report = ReadReport()
    found = [(document.id, document.title) for document in read(tmp_path, report=report)]
    assert found == [("a.epub", "The Sea"), ("b.DOCX", "b"), ("c.eml", "Hi")]
    assert report.skipped == 3
    assert all("is damaged or of another format" in skipped.reason for skipped in report.examples)
    assert size_of(tmp_path) == report.bytes


def test_metadata_of_files(tmp_path: Path) -> None:
    """Those of a record or row come before those of its file."""
    rows = '{"id": "i", "text": "x", "size": "XL"}\n{"text": "y"}'
    write(tmp_path, {"a/b.TXT.gz": gzip.compress(b"x"), "c.jsonl": rows})
    for name in ("a/b.TXT.gz", "c.jsonl"):
        os.utime(tmp_path / name, ns=(0, 1_767_225_599_500_000_000))
    packed, own, other = read(tmp_path)
    known = {"root": tmp_path.name, "modified": "2025-12-31T23:59:59Z"}
    size = (tmp_path / "a/b.TXT.gz").stat().st_size
    assert packed.metadata == {"path": "a/b.TXT.gz", "type": "txt", "size": size, **known}
    assert own.metadata == {"path": "c.jsonl", "type": "jsonl", "size": "XL", **known}
    assert (own.own_metadata(), other.own_metadata()) == ({"size": "XL"}, {})
    assert other.file is not None
    assert (other.file.folder, other.file.prefix) == (str(tmp_path), "")


def test_several_folders_give_different_ids(tmp_path: Path) -> None:
    write(tmp_path, {"pa/README.md": "a", "pb/README.md": "b", "pb/n.jsonl": '{"id": "i", "text": "x"}\n{"text": "y"}'})
    ids = ["pa/README.md", "pb/README.md", "i", "pb/n.jsonl#2"]
    assert [document.id for document in read(tmp_path / "pa", tmp_path / "pb")] == ids
    named = {"x": tmp_path / "pa"}
    assert [document.id for document in read(tmp_path / "pb" / "README.md", named=named)] == [
        "pb/README.md",
        "x/README.md",
    ]


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "x", "b.py": "x", ".env": "x", "node_modules/c.md": "x", "poetry.lock": "x"})
    report = ReadReport()
    assert [document.id for document in read(tmp_path, report=report)] == ["a.txt"]
    assert report.left_out == {"source code": 1, "hidden": 1, "dependencies": 1, "lock files": 1}
    assert report.skipped == 0
    everything = read(tmp_path, selection=Selection(all_files=True))
    assert [document.id for document in everything] == [".env", "a.txt", "b.py", "node_modules/c.md", "poetry.lock"]
    assert [document.id for document in read(tmp_path / "b.py", tmp_path / ".env")] == ["b.py", ".env"]


def test_kinds_of_what_is_skipped(tmp_path: Path) -> None:
    write(tmp_path, {"a.bin": b"\0", "b.txt": "", "c.txt": "x" * 50, "d.txt": "x", "e.jsonl": "{"})
    (tmp_path / "f.txt").symlink_to(tmp_path / "d.txt")
    report = ReadReport()
    assert [document.id for document in read(tmp_path, report=report, max_document=20)] == ["d.txt"]
    assert report.kinds == {"not text": 1, "empty": 1, "too large": 1, "unreadable": 1, "links": 1}


def test_wikipedia_and_pdf(tmp_path: Path) -> None:
    pytest.importorskip("mwparserfromhell")
    from tests.text.readers.pages.made_up_pdf import make_pdf

    sample = Path(__file__).parent / "wikipedia-sample.xml"
    write(
        tmp_path,
        {"d/a.pdf": make_pdf("Ann met Bob."), "w-pages-articles1.xml-p1p19.bz2": bz2.compress(sample.read_bytes())},
    )
    assert [(document.id, document.title) for document in read(tmp_path)] == [
        ("d/a.pdf", "a"),
        ("12", "Ann Smith"),
        ("19", "Ürümqi"),
    ]


def test_folders_in_order(tmp_path: Path) -> None:
    write(tmp_path, {"b.txt": "b", "a/z.txt": "z", "a/y/x.txt": "x", ".hidden.txt": "h", ".git/a.txt": "h"})
    assert [document.id for document in read(tmp_path)] == ["a/y/x.txt", "a/z.txt", "b.txt"]
    again = [document.id for document in read(tmp_path / "b.txt", tmp_path / "a", tmp_path)]
    assert again == ["b.txt", "a/y/x.txt", "a/z.txt"], "as below the folder of all, and each once"


BAD: dict[str, tuple[bytes, str]] = {
    "a.bin": (b"\x89PNG\0\0", "is binary"),
    "a.html": (b"<p>\0\x01\x02\0\0\0", "is binary"),
    "a.jsonl": (b'{"text": ', "is not JSON"),
    "a.json": (b"[1]", "is not JSON after 0 objects"),
    "a.csv": (b"id,text,id\n1,2,3\n", "two columns of the same name"),
    "a.xml": (b"<rss></rss>", "has the root <rss>"),
    "a.txt.gz": (b"never compressed", "cannot be read"),
    "a.jsonl.xz": (lzma.compress(b'{"text": "x"}')[:-8], "cannot be read"),
    "a.pdf": (b"no PDF", "cannot be read as PDF"),
    "b.jsonl": (b'{"text": "\\ud83d"}', "half a surrogate pair"),
}


@pytest.mark.parametrize("name", BAD)
def test_unreadable_files(tmp_path: Path, name: str) -> None:
    content, reason = BAD[name]
    write(tmp_path, {name: content, "z.txt": "x"})
    report = ReadReport()
    assert [document.id for document in read(tmp_path, report=report)] == ["z.txt"]
    assert (report.documents, report.skipped, report.empty) == (1, 1, 0)
    assert report.examples[0].place.startswith(str(tmp_path / name))
    assert reason in report.examples[0].reason
    with pytest.raises(DataError, match=name) as caught:
        read(tmp_path, strict=True)
    assert reason in str(caught.value)


def test_a_damaged_archive_gives_what_comes_before_the_damage(tmp_path: Path) -> None:
    lines = [json.dumps({"id": str(number), "text": os.urandom(500).hex()}) for number in range(400)]
    whole = gzip.compress("\n".join(lines).encode())
    write(tmp_path, {"a.jsonl.gz": whole[: len(whole) // 2]})
    report = ReadReport()
    assert 100 < len(read(tmp_path, report=report)) < 400
    assert (report.skipped, report.examples[0].place) == (1, str(tmp_path / "a.jsonl.gz"))


def test_what_is_no_file(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "x"})
    (tmp_path / "circle").symlink_to(tmp_path)
    (tmp_path / "gone").symlink_to(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe")
    report = ReadReport()
    assert [document.id for document in read(tmp_path, report=report)] == ["a.txt"]
    assert {Path(skipped.place).name for skipped in report.examples} == {"circle", "gone", "pipe"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "x", os.fsdecode(b"\xff.txt"): "y"})
    report = ReadReport()
    assert len(read(tmp_path, report=report)) == 1
    assert str(report.examples[0]) == f"'{tmp_path}/\\udcff.txt' has a name that is not UTF-8."


def test_empty_files_are_counted_and_no_mistake(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "", "b.md": " \n", "c.jsonl": '{"text": ""}', "d.csv": "text\n", "e.pdf": "", "z": "x"})
    report = ReadReport()
    assert [document.id for document in read(tmp_path, strict=True, report=report)] == ["z"]
    assert (report.documents, report.empty, report.skipped) == (1, 5, 0)


def test_only_the_first_reasons_are_kept(tmp_path: Path) -> None:
    write(tmp_path, {"a.jsonl": "{\n" * 1000 + '{"text": "x"}'})
    report = ReadReport()
    assert len(read(tmp_path, report=report)) == 1
    assert (report.skipped, len(report.examples)) == (1000, 100)
    assert report.examples[99].place.endswith("line 100")


def test_missing_paths_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "x"})
    with pytest.raises(DataError, match="nothing' does not exist"):
        read_documents([tmp_path / "a.txt", tmp_path / "nothing"])


def test_no_documents(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"No documents in '{tmp_path}'; .*Empty: 0, skipped: 0\\."):
        read(tmp_path)
    write(tmp_path, {"a.bin": b"\0", "b.txt": ""})
    with pytest.raises(DataError, match=r"Empty: 1, skipped: 1, the first: .*a\.bin' is binary"):
        read(tmp_path)
    with pytest.raises(DataError, match="no paths at all"):
        read()


def test_an_empty_folder_beside_a_full_one(tmp_path: Path) -> None:
    write(tmp_path, {"full/a.txt": "x"})
    (tmp_path / "empty").mkdir()
    assert len(read(tmp_path / "empty", tmp_path / "full")) == 1


def test_a_missing_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    write(tmp_path, {"a.pdf": "%PDF", "b.txt": "x"})
    report = ReadReport()
    assert len(read(tmp_path, report=report)) == 1
    assert report.examples == [
        Skipped(
            str(tmp_path / "a.pdf"), "is PDF, which needs pypdfium2; install it with: pip install 'densephrases[pdf]'"
        )
    ]
    with pytest.raises(MissingExtraError, match=r"densephrases\[pdf\]"):
        read(tmp_path, strict=True)


def test_reading_is_lazy(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "x", "b.bin": b"\0"})
    assert next(read_documents([tmp_path], strict=True)).id == "a.txt"


LINES = "".join(json.dumps({"text": os.urandom(500).hex()}) + "\n" for _ in range(2500))


@pytest.mark.parametrize("suffix", ["", *COMPRESSORS])
def test_how_far_a_file_is_read(tmp_path: Path, suffix: str) -> None:
    write(tmp_path, {f"a.jsonl{suffix}": COMPRESSORS.get(suffix, bytes)(LINES.encode())})
    report = ReadReport()
    total = size_of(tmp_path)
    assert total == (tmp_path / f"a.jsonl{suffix}").stat().st_size
    shares = [report.bytes / total for _ in read_documents([tmp_path], report=report)]
    assert shares == sorted(shares)
    assert 0.4 < shares[1250] < 0.8
    assert report.bytes == total


def test_binary_files_are_not_counted(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "x" * 10, "b.bin": bytes(1000), "c/d.md": "y" * 5, "e.json": "no json"})
    report = ReadReport()
    assert size_of(tmp_path) == 22
    assert [(d.id, report.bytes) for d in read_documents([tmp_path], report=report)] == [("a.txt", 10), ("c/d.md", 15)]
    assert report.bytes == 22


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.txt", ".txt"), ("A.PDF", ".pdf"), ("a.jsonl.gz", ".jsonl.gz"), ("README", ""), ("b/c.TXT.XZ", ".txt.xz")],
)
def test_kind_of_a_file(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_links_inside_a_folder_are_skipped_and_named(tmp_path: Path) -> None:
    """A link may lead to any file of the machine, or to one of the folder, which would be read twice."""
    secret, folder = tmp_path / "secret.txt", tmp_path / "docs"
    secret.write_text("password")
    write(folder, {"a.txt": "x", "inner/b.txt": "y"})
    (folder / "out.txt").symlink_to(secret)
    (folder / "again.txt").symlink_to(folder / "a.txt")
    (folder / "circle").symlink_to(folder)
    report = ReadReport()
    assert [document.text for document in read(folder, report=report)] == ["x", "y"]
    assert {Path(skipped.place).name for skipped in report.examples} == {"out.txt", "again.txt", "circle"}
    assert all(
        "is a link, which may lead anywhere; give --follow-links" in skipped.reason for skipped in report.examples
    )
    with pytest.raises(DataError, match="is a link"):
        read(folder, strict=True)


def test_links_are_followed_if_asked_for(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.txt": "x", "other/b.txt": "y"})
    (tmp_path / "docs" / "circle").symlink_to(tmp_path / "docs")
    (tmp_path / "docs" / "more").symlink_to(tmp_path / "other")
    (tmp_path / "docs" / "one.txt").symlink_to(tmp_path / "other" / "b.txt")
    found = read(tmp_path / "docs", follow_links=True)
    assert {document.id: document.text for document in found} == {"a.txt": "x", "more/b.txt": "y", "one.txt": "y"}
    assert size_of(tmp_path / "docs", follow_links=True) == 3


def test_a_link_that_is_given_itself_is_followed(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.txt": "x"})
    (tmp_path / "folder").symlink_to(tmp_path / "docs")
    (tmp_path / "file.txt").symlink_to(tmp_path / "docs" / "a.txt")
    assert [document.text for document in read(tmp_path / "folder", tmp_path / "file.txt")] == ["x", "x"]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_that_allows_nothing(tmp_path: Path, limit: int) -> None:
    with pytest.raises(ConfigError, match=f"max_document={limit} is not a positive number"):
        read(tmp_path, max_document=limit)


@pytest.mark.parametrize("place", ["x" * 5000, "a\0b", "\udcff"])
def test_paths_that_cannot_be(place: str) -> None:
    with pytest.raises(DataError, match="does not exist"):
        read(Path(place))


@pytest.mark.parametrize(
    ("name", "content", "read_before"),
    [
        ("a.txt", "x" * 1001, []),
        ("a.md", "x" * 1001, []),
        ("a.html", "x" * 1001, []),
        ("a.pdf", "%PDF-1.4" + "x" * 1001, []),
        ("a.jsonl", '{"text": "a"}\n{"text": "' + "x" * 5000 + '"}\n{"text": "b"}', ["a", "b"]),
        ("a.json", '{"text": "a"}\n{"text": "' + "x" * 200_000 + '"}\n{"text": "b"}', ["a"]),
        ("a.csv", "text\na\n" + "x" * 1001 + "\nb", ["a"]),
        ("a.csv", 'text\na\n"' + "x\n" * 1001 + '"\nb', ["a"]),
    ],
)
@pytest.mark.parametrize("suffix", ["", *COMPRESSORS])
def test_documents_above_the_limit(
    tmp_path: Path, name: str, content: str, read_before: list[str], suffix: str
) -> None:
    """Skipped and named; the others of the file are read as far as it is known where they begin."""
    write(tmp_path, {name + suffix: COMPRESSORS.get(suffix, bytes)(content.encode()), "z.txt": "z"})
    report = ReadReport()
    found = read(tmp_path, report=report, max_document=1000)
    assert [document.text for document in found] == [*read_before, "z"]
    assert "has more than 1 KB, the most that a document may have; raise it with --max-document" in str(report.examples)
    assert (report.skipped, report.documents) == (1, len(read_before) + 1)


MEMBERS = 2_000  # of a megabyte each
MOST_MEMORY = 512 << 20  # bytes that the process which reads them has in use at most


def bomb(head: bytes, repeated: bytes, tail: bytes, path: Path) -> None:
    """One or two megabytes that expand to two gigabytes: the same compressed block again and again."""
    compress = COMPRESSORS[path.suffix]
    block = compress(repeated * (1_000_000 // len(repeated)))
    path.write_bytes(compress(head) + block * MEMBERS + compress(tail))


READ_IN_BOUNDS = """
import sys
from pathlib import Path
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.read import read_documents
report = ReadReport()
found = [document.id for document in read_documents([Path(sys.argv[1])], report=report)]
(peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(int(peak) * 1024, *found, report.skipped, report.examples[0].reason)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count memory otherwise")
@pytest.mark.parametrize(
    ("name", "head", "repeated", "tail"),
    [
        ("a.txt.gz", b"", b"x", b""),
        ("a.txt.bz2", b"", b"x", b""),
        ("a.html.gz", b"<p>", b"x", b""),
        ("a.html.gz", b"", b"<p>", b""),
        ("a.jsonl.gz", b'{"text": "', b"x", b'"}'),
        ("a.jsonl.gz", b'{"text": "x", "a": [', b"[],", b"0]}"),
        ("a.jsonl.gz", b"", b"\n", b""),
        ("a.json.gz", b'{"text": "', b"x", b'"}'),
        ("a.json.gz", b'[{"text": "x", "a": [', b"[],", b"0]}]"),
        ("a.csv.gz", b"text\n", b",", b""),
        ("a.csv.gz", b'text\n"', b"x\n", b'"'),
        ("a.xml.gz", b"<mediawiki><page><text>", b"x", b"</text></page></mediawiki>"),
        ("a.xml.gz", b"<mediawiki><page>", b"<a/>", b"</page></mediawiki>"),
        ("a.pdf.gz", b"%PDF-1.4", b"x", b""),
    ],
)
def test_bombs_take_little_memory(tmp_path: Path, name: str, head: bytes, repeated: bytes, tail: bytes) -> None:
    """Refused within bounds of memory, and the next document is read."""
    bomb(head, repeated, tail, tmp_path / name)
    write(tmp_path, {"z.txt": "z"})
    command = [sys.executable, "-c", READ_IN_BOUNDS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stderr) == (0, "")
    memory, found, skipped, _ = done.stdout.split(maxsplit=3)
    assert found == "z.txt"
    assert int(skipped) in (1, 2)  # a line, and the file when the rest of the line turns out to be endless
    assert int(memory) < MOST_MEMORY


def test_an_archive_that_asks_for_memory(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}]
    write(tmp_path, {"a.txt.xz": lzma.compress(b"x", filters=filters), "z.txt": "z"})
    report = ReadReport()
    assert len(read(tmp_path, report=report)) == 1
    assert "Memory usage limit exceeded" in report.examples[0].reason


def test_formats_that_are_no_plain_text_are_known_to_progress() -> None:
    assert read_module._NO_PLAIN_TEXT.keys() == NO_PLAIN_TEXT
