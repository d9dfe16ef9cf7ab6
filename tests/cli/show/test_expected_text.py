"""The text that is expected of files that are not yet read."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.cli.show.expected_text import ExpectedText
from densephrases.text.readers.folders.found_files import FoundFile
from densephrases.text.readers.folders.roots import Root


def files(folder: Path, sizes: dict[str, int]) -> list[FoundFile]:
    root = Root("root", folder)
    for name, size in sizes.items():
        (folder / name).write_bytes(b"x" * size)
    return [FoundFile(folder / name, folder / name, root) for name in sizes]


def test_a_kind_that_was_never_read_is_guessed(tmp_path: Path) -> None:
    found = files(tmp_path, {"a.txt": 1000, "b.pdf": 5000, "c.txt.gz": 200})
    assert ExpectedText(found).total == pytest.approx(1000 + 500 + 700)
    assert ExpectedText([]).total == 0


def test_what_was_read_of_a_kind_tells_of_the_rest(tmp_path: Path) -> None:
    size = 1 << 20
    expected = ExpectedText(files(tmp_path, {f"{n}.pdf": size for n in range(10)}))
    assert expected.total == pytest.approx(size)
    for n in range(5):
        expected.read((n + 1) * size, ".pdf", size // 4)
    assert expected.total == pytest.approx(10 * size / 4, rel=0.02)


def test_files_that_give_no_document_count_as_read(tmp_path: Path) -> None:
    """Of ten scans only the last has text: the others have passed when it is read."""
    size = 1 << 16
    expected = ExpectedText(files(tmp_path, {f"{n}.pdf": size for n in range(10)} | {"z.txt": 400}))
    expected.read(10 * size, ".pdf", 300)
    assert expected.total == pytest.approx(700)


def test_a_file_of_many_documents_is_passed_bit_by_bit(tmp_path: Path) -> None:
    expected = ExpectedText(files(tmp_path, {"a.jsonl": 1000}))
    totals = []
    for position in range(100, 1001, 100):
        expected.read(position, ".jsonl", 100)
        totals.append(expected.total)
    assert totals == pytest.approx([1000] * 10)


@given(st.lists(st.tuples(st.sampled_from([".txt", ".pdf", ".gz"]), st.integers(0, 10**6)), max_size=20))
def test_at_the_end_nothing_is_left_to_expect(
    tmp_path_factory: pytest.TempPathFactory, read: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("files")
    expected = ExpectedText(files(folder, {f"{n}{kind}": 10 * n for n, (kind, _) in enumerate(read)}))
    position = 0
    for n, (kind, characters) in enumerate(read):
        position += 10 * n
        expected.read(position, kind, characters)
    assert expected.total == pytest.approx(sum(characters for _, characters in read))
