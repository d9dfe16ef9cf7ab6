"""The few exceptions a caller may want to catch; each message names the value, what was expected and the remedy."""

from collections.abc import Collection, Iterable


class DensePhrasesError(Exception):
    """Anything a user of the package did that cannot work."""


class ConfigError(DensePhrasesError, ValueError):
    """A setting with an unknown name or an impossible value."""


class DataError(DensePhrasesError, ValueError):
    """An input file that is missing, unreadable or not in the expected format.

    Attributes:
        kind: A word or two under which summaries count it.
    """

    def __init__(self, message: str, kind: str = "unreadable") -> None:
        super().__init__(message)
        self.kind = kind


class ModelError(DensePhrasesError):
    """A model folder that is missing, incomplete, of another version or of another kind."""


class PhraseIndexError(DensePhrasesError):
    """An index folder that is missing, damaged, of another version, of another model or in use by another process."""


class IndexBusyError(PhraseIndexError):
    """An index that another process is writing to; the same call may succeed later."""


class DeadlineExceededError(DensePhrasesError, TimeoutError):
    """A search that was cancelled or took longer than it was given."""


class DiskFullError(PhraseIndexError):
    """A full disk while an index is written; everything committed before is kept."""


class ServiceError(DensePhrasesError):
    """A service that cannot be reached, refuses a request or fails."""


class ShardsUnavailableError(DensePhrasesError):
    """Shards of a served index that did not answer in time; the same call may succeed later."""

    def __init__(self, failed: Collection[int], count: int) -> None:
        numbers = ", ".join(str(shard + 1) for shard in sorted(failed))
        rest = "" if len(failed) == count else ", or allow partial answers"
        super().__init__(
            f"{len(failed)} of {count} shards did not answer in time (shard {numbers}); send the request again "
            f"later{rest}."
        )


class StorageError(DensePhrasesError):
    """An object store that cannot be reached, refuses access, or lacks what an index needs."""


class ClusterError(DensePhrasesError):
    """A Ray cluster that cannot be reached, lacks what the work needs, or loses the same work again and again."""


class MissingExtraError(DensePhrasesError, ImportError):
    """A feature whose optional dependencies are not installed."""


def first_line(error: BaseException) -> str:
    """What a library's exception says, short enough to be quoted in a sentence of ours."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def meant(written: object, names: Iterable[str]) -> str:
    """A question to append to an error, with a space before it, if one of the names is close; else nothing."""
    from difflib import get_close_matches  # not needed unless something is wrong

    close = get_close_matches(str(written).lower(), list(names), n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else ""
