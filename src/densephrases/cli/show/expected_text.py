"""How much text the files of a build have, before all of them are read."""

from collections import Counter, deque
from collections.abc import Iterable

from densephrases.text.readers.files import is_compressed
from densephrases.text.readers.folders.found_files import NO_PLAIN_TEXT, FoundFile, kind_of, text_bytes

# Characters a byte, until files of the kind have been read: a compressed byte stands for several characters, one of a
# PDF or a picture for hardly any.
_PLAIN, _COMPRESSED, _OTHER = 1.0, 3.5, 0.1
_TRUSTED_BYTES = 1 << 16  # of a kind that must be read until its own ratio counts as much as this guess


class ExpectedText:
    """Characters of all files, in the order of reading: what is read of each kind tells what the others of it have."""

    def __init__(self, files: Iterable[FoundFile]) -> None:
        self._ahead: deque[tuple[str, int]] = deque()  # kind of each file, and its bytes that are not read
        self._unread: Counter[str] = Counter()  # bytes by kind
        self._guess: dict[str, float] = {}
        for file in files:
            kind, size = kind_of(file.path), text_bytes(file.path)
            self._ahead.append((kind, size))
            self._unread[kind] += size
            self._guess[kind] = _COMPRESSED if is_compressed(file.path) else _OTHER if kind in NO_PLAIN_TEXT else _PLAIN
        self._sizes = Counter(self._unread)
        self._characters: Counter[str] = Counter()
        self._position = 0

    def read(self, position: int, kind: str, characters: int) -> None:
        """A document has been read; `position` is the number of bytes up to there."""
        while self._ahead and self._position < position:
            its, size = self._ahead.popleft()
            passed = min(size, position - self._position)
            self._position += passed
            self._unread[its] -= passed
            if passed < size:
                self._ahead.appendleft((its, size - passed))
        self._characters[kind] += characters

    @property
    def total(self) -> float:
        """Characters that were read, and those expected of the rest."""
        return self._characters.total() + sum(size * self._ratio(kind) for kind, size in self._unread.items() if size)

    def _ratio(self, kind: str) -> float:
        seen = self._sizes[kind] - self._unread[kind]
        return (self._characters[kind] + _TRUSTED_BYTES * self._guess[kind]) / (seen + _TRUSTED_BYTES)
