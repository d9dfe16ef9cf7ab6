"""Downloads from a real server: resumed, restarted, redirected, refused."""

import os
from pathlib import Path

import pytest

from densephrases.data.download.fetch import ATTEMPTS, UnreachableError, fetch, forget_part, part_of, read_small

from .conftest import Web

CONTENT = os.urandom(600_000)


def fetched(address: str, path: Path) -> bytes:
    fetch(address, path, pause=0)
    return part_of(path).read_bytes()


def test_a_file_and_its_progress(web: Web, tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    fetch(web.serve("a", CONTENT), tmp_path / "a", lambda done, total: told.append((done, total)), pause=0)
    assert part_of(tmp_path / "a").read_bytes() == CONTENT
    assert told[0] == (0, len(CONTENT))
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_transfer_that_is_cut_off_goes_on_by_itself(web: Web, tmp_path: Path) -> None:
    address = web.serve("a", CONTENT, cut=[100_000, 250_000])
    assert fetched(address, tmp_path / "a") == CONTENT
    assert web.asked == [("/a", None), ("/a", "bytes=100000-"), ("/a", "bytes=350000-")]


def test_a_later_call_goes_on(web: Web, tmp_path: Path) -> None:
    address = web.serve("a", CONTENT, cut=[50_000] * ATTEMPTS)
    with pytest.raises(UnreachableError, match=f"cut off {ATTEMPTS} times: 250,000 of 600,000 bytes arrived"):
        fetched(address, tmp_path / "a")
    web.asked.clear()
    assert fetched(address, tmp_path / "a") == CONTENT
    assert web.asked == [("/a", "bytes=250000-")]


def test_a_server_that_ignores_ranges(web: Web, tmp_path: Path) -> None:
    assert fetched(web.serve("a", CONTENT, ranges=False, cut=[100_000]), tmp_path / "a") == CONTENT
    assert web.asked[-1] == ("/a", "bytes=100000-")


def test_another_version_is_downloaded_anew(web: Web, tmp_path: Path) -> None:
    address = web.serve("a", CONTENT, cut=[100] * ATTEMPTS)
    with pytest.raises(UnreachableError):
        fetched(address, tmp_path / "a")
    web.serve("a", b"another", etag='"v2"')
    assert fetched(address, tmp_path / "a") == b"another"


def test_without_a_version_nothing_is_joined(web: Web, tmp_path: Path) -> None:
    assert fetched(web.serve("a", CONTENT, etag=None, cut=[100_000]), tmp_path / "a") == CONTENT
    assert web.asked == [("/a", None), ("/a", None)]


@pytest.mark.parametrize("there", [len(CONTENT), len(CONTENT) + 5])
def test_all_bytes_were_there(web: Web, tmp_path: Path, there: int) -> None:
    """A part that is complete is kept; one that is too long belongs to something else."""
    address = web.serve("a", CONTENT)
    fetched(address, tmp_path / "a")
    part_of(tmp_path / "a").write_bytes((CONTENT + b"12345")[:there])
    assert fetched(address, tmp_path / "a") == CONTENT


def test_a_redirection(web: Web, tmp_path: Path) -> None:
    web.serve("old", b"", location=web.serve("new", CONTENT, cut=[100_000]))
    assert fetched(f"{web.address}/old", tmp_path / "a") == CONTENT
    assert web.asked[-1] == ("/new", "bytes=100000-")


def test_a_busy_server_is_asked_again(web: Web, tmp_path: Path) -> None:
    assert fetched(web.serve("a", CONTENT, statuses=[503, 429]), tmp_path / "a") == CONTENT
    with pytest.raises(UnreachableError, match="cut off 5 times: the server answers 503 Service Unavailable"):
        fetched(web.serve("a", CONTENT, statuses=[503] * ATTEMPTS), tmp_path / "b")


def test_what_is_not_there(web: Web, tmp_path: Path) -> None:
    with pytest.raises(UnreachableError, match="answers 404 Not Found, expected the file"):
        fetched(f"{web.address}/a", tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_no_server(tmp_path: Path) -> None:
    with pytest.raises(UnreachableError, match=r"'http://127.0.0.1:1/a' cannot be reached: "):
        fetched("http://127.0.0.1:1/a", tmp_path / "a")
    with pytest.raises(UnreachableError, match="is no address of the web"):
        fetched(Path("/etc/passwd").as_uri(), tmp_path / "a")


def test_parts_are_forgotten(web: Web, tmp_path: Path) -> None:
    fetched(web.serve("a", CONTENT), tmp_path / "a")
    forget_part(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_small_texts(web: Web) -> None:
    assert read_small(web.serve("sums", "0a  ä\n".encode())) == "0a  ä\n"
