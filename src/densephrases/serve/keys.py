"""API keys: who may search and who may change the index."""

import hmac
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Self

from densephrases.errors import ConfigError
from densephrases.text.readers.files import UNREADABLE, read_text

SHORTEST = 16
_MAKE_ONE = 'python -c "import secrets; print(secrets.token_urlsafe(32))"'


@dataclass(frozen=True, slots=True)
class Keys:
    """Digests of keys, so that neither timing nor a printed setting reveals a key.

    Without reading keys everyone may search; without admin keys no one may change the index. An admin key may also
    search.
    """

    reading: tuple[bytes, ...] = field(default=(), repr=False)
    admin: tuple[bytes, ...] = field(default=(), repr=False)

    @classmethod
    def read(cls, reading: Path | None, admin: Path | None) -> Self:
        """From files with one key per line; blank lines and lines that begin with # are skipped."""
        return cls(*(() if path is None else _digests(path) for path in (reading, admin)))

    def may_search(self, key: str | None) -> bool:
        return not self.reading or _is_one_of(key, (*self.reading, *self.admin))

    def may_change(self, key: str | None) -> bool:
        return _is_one_of(key, self.admin)


def _is_one_of(key: str | None, digests: tuple[bytes, ...]) -> bool:
    """In constant time."""
    given = _digest(key or "")
    found = [hmac.compare_digest(given, digest) for digest in digests]
    return any(found) and key is not None


def _digest(key: str) -> bytes:
    return sha256(key.encode(errors="surrogatepass")).digest()


def _digests(path: Path) -> tuple[bytes, ...]:
    try:
        lines = [line.strip() for line in read_text(path).splitlines()]
    except UNREADABLE as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise ConfigError(f"The key file '{path}' cannot be read: {reason}.") from error
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys:
        raise ConfigError(f"The key file '{path}' has no key; write one per line, made for example with {_MAKE_ONE}.")
    if short := [number for number, key in enumerate(keys, start=1) if len(key) < SHORTEST]:
        raise ConfigError(
            f"Key {short[0]} of '{path}' has fewer than {SHORTEST} characters and could be guessed; "
            f"make a longer one, for example with {_MAKE_ONE}."
        )
    return tuple(_digest(key) for key in keys)
