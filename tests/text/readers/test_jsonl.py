"""Documents as JSON: what is kept, what is refused, and that memory does not grow with the file."""

import io
import json
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.errors import DataError
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers import jsonl
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.jsonl import read_json, read_json_lines
from densephrases.text.readers.read import read_documents


def read_lines(folder: Path, *lines: Any) -> list[Document | Skipped]:
    path = folder / "a.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return list(read_json_lines(path, "a.jsonl"))


def test_all_fields(tmp_path: Path) -> None:
    record = {"id": "x", "title": "T", "text": "a\r\n\tb", "metadata": {"lang": "en", "n": [1]}}
    assert read_lines(tmp_path, record) == [Document("x", "a\r\n\tb", "T", {"lang": "en", "n": [1]})]


def test_paragraphs_numbers_and_other_keys(tmp_path: Path) -> None:
    record = {"id": 7, "paragraphs": ["a", "b\n"], "url": "u", "lang": "de", "metadata": {"lang": "en"}}
    assert read_lines(tmp_path, record) == [Document("7", "a\n\nb\n", "", {"url": "u", "lang": "en"})]


def test_missing_ids_are_lines(tmp_path: Path) -> None:
    null = {"id": None, "title": None, "text": "b", "metadata": None}
    assert read_lines(tmp_path, {"text": "a"}, "", null) == [Document("a.jsonl#1", "a"), Document("a.jsonl#3", "b")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("9" * 5000, "is not JSON"),
        ("[]", "is list, expected an object"),
        ("null", "is NoneType"),
        ({"id": "1", "txt": "a"}, "has the keys ['id', 'txt'], expected either 'text' or 'paragraphs'"),
        ({"text": "a", "paragraphs": ["a"]}, "expected either"),
        ({"text": 1}, "has 'text' of type int, expected a string"),
        ({"text": "a", "id": 1.5}, "has 'id' of type float"),
        ({"text": "a", "id": True}, "has 'id' of type bool"),
        ({"text": "a", "title": ["t"]}, "has 'title' of type list"),
        ({"paragraphs": "a"}, "not a list of strings"),
        ({"paragraphs": ["a", 1]}, "not a list of strings"),
        ({"text": "a", "metadata": ["m"]}, "has 'metadata' of type list"),
        ({"text": "a", "metadata": {"m": "\ud83d"}}, "surrogates not allowed"),
    ],
)
def test_a_bad_line_is_skipped_alone(tmp_path: Path, line: Any, reason: str) -> None:
    _, skipped, last = read_lines(tmp_path, {"text": "a"}, line, {"text": "c"})
    assert isinstance(skipped, Skipped)
    assert skipped.place == f"{tmp_path / 'a.jsonl'}, line 2"
    assert reason in skipped.reason
    assert last == Document("a.jsonl#3", "c")


def test_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for encoding in ("cp1252", "utf-16"):
        path.write_bytes('{"text": "Café: 5 €"}\n{"text": "c"}'.encode(encoding))
        assert list(read_json_lines(path, "a")) == [Document("a#1", "Café: 5 €"), Document("a#2", "c")]
    path.write_bytes('\ufeff{"text": "é"}\n'.encode() * 20 + '{"text": "é"}'.encode("latin-1"))
    assert [item.text for item in read_json_lines(path, "a") if isinstance(item, Document)] == ["é"] * 21


ANY_TEXT = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("\r\n\t\x0b\u2028\x85\0\ufeff")))


@given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT, st.dictionaries(ANY_TEXT, ANY_TEXT)), max_size=4), st.booleans())
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, rows: list[Any], ascii_only: bool) -> None:
    records = [{"id": f"{i}", "title": t, "text": x, "metadata": m} for i, (t, x, m) in enumerate(rows)]
    expected = [Document(str(i), text, title, metadata) for i, (title, text, metadata) in enumerate(rows)]
    folder = tmp_path_factory.mktemp("round")
    raw = [json.dumps(record, ensure_ascii=ascii_only) for record in records]
    (folder / "lines").write_bytes("\n".join(raw).encode())
    (folder / "list").write_text(json.dumps(records, ensure_ascii=ascii_only, indent=1), encoding="utf-8", newline="")
    assert list(read_json_lines(folder / "lines", "")) == expected
    assert list(read_json(folder / "list", "")) == expected


def read_whole(folder: Path, content: str) -> list[Document | Skipped]:
    path = folder / "a.json"
    path.write_text(content, encoding="utf-8")
    return list(read_json(path, "a.json"))


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ('{"text": "a"}', ["a"]),
        (' [ {"text": "a"} ,\n{"text": "b"} ] ', ["a", "b"]),
        ('{"text": "a"}\n{"text": "b"}\n', ["a", "b"]),
        ("[]", []),
        (" \n", []),
        (json.dumps([{"text": "x" * 300_000}, {"text": "b"}]), ["x" * 300_000, "b"]),  # longer than several chunks
    ],
)
def test_json_files(tmp_path: Path, content: str, texts: list[str]) -> None:
    expected = [Document(f"a.json#{number}", text) for number, text in enumerate(texts, start=1)]
    assert read_whole(tmp_path, content) == expected


@pytest.mark.parametrize(
    "content",
    [
        '"text"',
        "3",
        "{",
        '[{"text": "a"}',
        '[{"text": "a"},]',
        '[{"text": "a"}] x',
        '[{"text": "a"} {"text": "b"}]',
        '{"text": tru}',
        "[[]]",
        '["a"]',
        '{"a": ' * 100_000,
        '{"text": ' + "9" * 5000 + "}",
    ],
)
def test_not_json(tmp_path: Path, content: str) -> None:
    with pytest.raises(DataError, match=r"a\.json' is not JSON after"):
        read_whole(tmp_path, content)


def test_reasons_are_whole_sentences(tmp_path: Path) -> None:
    """Python's end with 'at' and a position, which is of no use here."""
    (tmp_path / "a.json").write_text('{"text": "a\n')
    with pytest.raises(DataError, match=r"after 0 objects: Invalid control character\.$"):
        list(read_json(tmp_path / "a.json", "a"))


def test_a_bad_object_is_skipped_alone(tmp_path: Path) -> None:
    skipped, last = read_whole(tmp_path, '[{"txt": "a"}, {"text": "b"}]')
    assert isinstance(skipped, Skipped)
    assert skipped.place.endswith("a.json, object 1")
    assert last == Document("a.json#2", "b")


def test_an_early_mistake_is_found_without_reading_on(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"text" "a"},' + " " * 20_000_000)
    tracemalloc.start()
    with pytest.raises(DataError, match="Expecting ':'"):
        list(read_json(path, "a"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


@pytest.mark.parametrize(("reader", "form"), [(read_json_lines, "{}"), (read_json, "{}"), (read_json, "[{}]")])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, reader: Any, form: str) -> None:
    path = tmp_path / "a"
    separator = "," if form != "{}" else "\n"
    line = json.dumps({"text": "word " * 200})
    path.write_text(form.replace("{}", separator.join([line] * 20_000)))  # 20 MB
    tracemalloc.start()
    count = sum(1 for _ in reader(path, "a"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 2_000_000


class CountedText(str):
    """Text that counts the characters copied out of it or appended to it."""

    __slots__ = ()
    copied: ClassVar[int] = 0

    def __getitem__(self, key: SupportsIndex | slice) -> "CountedText":
        piece = super().__getitem__(key)
        CountedText.copied += len(piece)
        return CountedText(piece)

    def __add__(self, other: str) -> "CountedText":
        CountedText.copied += len(self) + len(other)
        return CountedText(super().__add__(other))

    def lstrip(self, chars: str | None = None) -> "CountedText":
        stripped = super().lstrip(chars)
        CountedText.copied += len(stripped) if len(stripped) < len(self) else 0
        return CountedText(stripped)

    def __radd__(self, other: str) -> "CountedText":
        return CountedText(other) + self


class CountedFile(io.StringIO):
    def read(self, size: int | None = -1) -> CountedText:
        return CountedText(super().read(size))


LONG, SMALL = json.dumps({"text": "x" * 2_000_000}), json.dumps({"text": "y"})


@pytest.mark.parametrize(
    "records",
    [[SMALL] * 50_000, [LONG, *[SMALL] * 50_000], [json.dumps({"text": "x" * 100_000})] * 30, [LONG, LONG]],
    ids=["small", "small after long", "longer than a chunk", "long"],
)
@pytest.mark.parametrize(("form", "separator"), [("[{}]", ",\n"), ("{}", "\n")], ids=["list", "objects"])
def test_work_is_linear_in_the_file(
    monkeypatch: pytest.MonkeyPatch, records: list[str], form: str, separator: str
) -> None:
    """Characters that are decoded or copied, counted rather than timed."""
    content = form.replace("{}", separator.join(records))
    decoded = 0
    decode = json.JSONDecoder.raw_decode

    def counting(decoder: json.JSONDecoder, text: str, start: int = 0) -> tuple[Any, int]:
        nonlocal decoded
        assert isinstance(text, CountedText), "a method that is not counted copied it"
        try:
            value, end = decode(decoder, text, start)
        except json.JSONDecodeError:
            decoded += len(text) - start
            raise
        decoded += end - start
        return value, end

    @contextmanager
    def opened(*_: Any) -> Iterator[CountedFile]:
        yield CountedFile(content)

    monkeypatch.setattr(json.JSONDecoder, "raw_decode", counting)
    monkeypatch.setattr(jsonl, "open_decoded", opened)
    monkeypatch.setattr(CountedText, "copied", 0)
    assert sum(1 for _ in read_json(Path("a.json"), "a")) == len(records)
    assert sum(map(len, records)) <= decoded <= 3 * len(content)
    assert CountedText.copied <= 5 * len(content)


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ("[" * 150 + "]" * 150, "nested more than 100 levels"),
        ("[" * 5000 + "]" * 5000, "nested"),
        ("NaN", "NaN is no number of JSON"),
        ("1e999", "Out of range float values"),
        ('"\\ud800"', "surrogates not allowed"),
        ("9" * 5000, "4300"),
    ],
)
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_metadata_that_no_index_can_hold(tmp_path: Path, metadata: str, reason: str, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_text('{"text": "x", "metadata": {"a": ' + metadata + "}}\n")
    with pytest.raises(DataError, match=reason):
        list(read_documents([path], strict=True))


def test_many_blank_lines_end_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "x"}\n' + "\n" * 100_001 + '{"text": "y"}')
    report = ReadReport()
    assert [document.text for document in read_documents([path], report=report)] == ["x"]
    assert "follows 100,000 blank lines" in report.examples[0].reason
