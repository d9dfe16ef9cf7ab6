"""SHA-256 of the files of a model folder, in a file that `sha256sum -c SHA256SUMS` reads as well.

A folder without that file, as earlier versions exported it, is taken as it is. In a folder that has it, every file that
is loaded must be listed and match. Each folder of a task has its own. After changes by hand, remove the file or write
it anew: `python -c "from densephrases.checksums import *; write_checksums(Path('MODEL'))"`.
"""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fnmatch import fnmatch
from hashlib import file_digest, sha256
from pathlib import Path

from densephrases.atomic_files import replace_file
from densephrases.errors import ModelError

CHECKSUMS_FILE = "SHA256SUMS"
_LISTED = ("*.json", "*.onnx", "weights.*.bin", "question.*.bin", "*.npz", "*.safetensors", "README.md")
_LINE = re.compile(r"([0-9a-f]{64}) [ *](\S.*)")

Sums = dict[str, set[str]]
"""The accepted checksums of each file: two while it is being replaced, so that a crash leaves a folder that loads."""


def read_verified(path: Path) -> bytes:
    """The content of a model's file, which matches its checksum if the folder has any."""
    content = path.read_bytes()
    _compare(path, sha256(content).hexdigest(), _read(path.parent))
    return content


def verify_file(path: Path) -> None:
    sums = _read(path.parent)
    if sums is not None:
        _compare(path, _hash(path), sums)


@contextmanager
def verified_meanwhile(path: Path) -> Iterator[None]:
    """Verify a large file while it is used; what is made of it must not be given out before this ends."""
    with ThreadPoolExecutor(1, "verify") as executor:
        verified = executor.submit(verify_file, path)
        try:
            yield
        finally:
            verified.result()  # also tells why it could not be used


def write_checksums(folder: Path) -> None:
    """Of all files that belong to the model, as they are now."""
    names = (path.name for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    listed = sorted(name for name in names if any(fnmatch(name, pattern) for pattern in _LISTED))
    _write(folder, {name: {_hash(folder / name)} for name in listed})


def remove_checksums(folder: Path) -> None:
    """Before a folder is written anew: until `write_checksums` it is one without."""
    (folder / CHECKSUMS_FILE).unlink(missing_ok=True)


def replace_listed(path: Path, content: bytes | str) -> None:
    """Replace one file of a model and its checksum, if the folder has any."""
    sums = _read(path.parent)
    if sums is None:
        replace_file(path, content)
        return
    data = content.encode() if isinstance(content, str) else content
    new = {sha256(data).hexdigest()}
    _write(path.parent, sums | {path.name: sums.get(path.name, set()) | new})
    replace_file(path, data)
    _write(path.parent, sums | {path.name: new})


def unlist(path: Path) -> None:
    """A file that has been removed."""
    sums = _read(path.parent)
    if sums is not None and path.name in sums:
        _write(path.parent, {name: known for name, known in sums.items() if name != path.name})


def _read(folder: Path) -> Sums | None:
    path = folder / CHECKSUMS_FILE
    if not path.is_file():
        return None
    sums: Sums = {}
    for line in path.read_bytes().decode(errors="replace").splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            raise ModelError(
                f"'{path}' is damaged: {line[:80]!r} is no checksum and name of a file; copy the model folder again."
            )
        sums.setdefault(found[2], set()).add(found[1])
    return sums


def _write(folder: Path, sums: Sums) -> None:
    lines = [f"{known}  {name}\n" for name in sorted(sums) for known in sorted(sums[name])]
    replace_file(folder / CHECKSUMS_FILE, "".join(lines))


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _compare(path: Path, found: str, sums: Sums | None) -> None:
    if sums is None or found in sums.get(path.name, ()):
        return
    reason = f"its SHA-256 differs from that in {CHECKSUMS_FILE}" if path.name in sums else f"{CHECKSUMS_FILE} lacks it"
    raise ModelError(
        f"'{path}' is damaged or was changed: {reason}; copy the model folder again, "
        f"or remove {CHECKSUMS_FILE} if you changed the file on purpose."
    )
