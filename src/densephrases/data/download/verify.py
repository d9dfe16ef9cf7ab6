"""Checksums of downloaded files: published ones, and those recorded when a file first came.

`SHA256SUMS` lies beside the files, in the format of `sha256sum`, which reads it as well.
"""

from collections.abc import Callable
from hashlib import file_digest
from pathlib import Path
from typing import Literal

from densephrases.atomic_files import replace_file
from densephrases.data.download.catalog import RemoteFile
from densephrases.errors import DataError

SUMS_FILE = "SHA256SUMS"

Check = Literal["published", "as before", "first seen"]
"""What a file's checksum was compared with: the published one, the recorded one, or nothing."""


def read_sums(folder: Path) -> dict[str, str]:
    """The recorded checksums by name."""
    path = folder / SUMS_FILE
    if not path.is_file():
        return {}
    rows = [line.split(maxsplit=1) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if any(len(row) != 2 or len(row[0]) != 64 for row in rows):
        raise DataError(f"'{path}' is damaged: a line is no SHA-256 and name; remove the file to record them anew.")
    return {name.lstrip("*"): digest for digest, name in rows}


def record(folder: Path, name: str, digest: str) -> None:
    sums = read_sums(folder) | {name: digest}
    replace_file(folder / SUMS_FILE, "".join(f"{value}  {key}\n" for key, value in sorted(sums.items())))


def sha256_of(path: Path) -> str:
    return _digest(path, "sha256")


def check(
    path: Path,
    file: RemoteFile,
    folder: Path,
    read_list: Callable[[str], str],
    *,
    named: Path | None = None,
    accept_changed: bool = False,
) -> Check:
    """Compare a file with what is known of it, and record its checksum; a difference raises DataError.

    Args:
        path: Where it is.
        file: What is published about it.
        folder: Where checksums are recorded.
        read_list: Reads its owner's list of SHA-1 checksums, if there is one.
        named: Where it will be, for messages.
        accept_changed: Record its checksum whatever it is.
    """
    digest, recorded = sha256_of(path), read_sums(folder).get(file.name)
    expected = file.sha256 or recorded
    listed = None if file.sha1_list is None or digest == recorded else _listed(read_list(file.sha1_list), file)
    if not accept_changed:
        if expected is not None and digest != expected:
            raise DataError(
                _differs(named or path, "SHA-256", digest, expected, "published" if file.sha256 else "recorded")
            )
        if listed is not None and (sha1 := _digest(path, "sha1")) != listed:
            raise DataError(_differs(named or path, "SHA-1", sha1, listed, "published"))
    record(folder, file.name, digest)
    if digest == file.sha256 or (listed is not None and not accept_changed):
        return "published"
    return "as before" if digest == recorded else "first seen"


def _differs(path: Path, kind: str, found: str, expected: str, source: str) -> str:
    return (
        f"'{path}' has the {kind} {found}, expected the {source} {expected}: it is damaged, or its owner has changed "
        "it. Get it again, or take it as it is with --accept-changed."
    )


def _listed(text: str, file: RemoteFile) -> str:
    """A list of `latest` names files by their date."""
    ending = file.name.partition("-latest-")[2] or file.name
    rows = [line.split() for line in text.splitlines()]
    found = [row[0] for row in rows if len(row) == 2 and (row[1] == file.name or row[1].endswith(f"-{ending}"))]
    if not found:
        raise DataError(f"'{file.sha1_list}' lists no checksum of '{file.name}'; name another date of the dump.")
    return found[0]


def _digest(path: Path, name: str) -> str:
    with path.open("rb") as file:
        return file_digest(file, name).hexdigest()
