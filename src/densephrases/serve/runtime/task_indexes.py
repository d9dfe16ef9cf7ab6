"""The served index with the query encoder of any task of its model."""

from densephrases.model.encoder import Encoder
from densephrases.search.phrase_index import PhraseIndex


class TaskIndexes:
    """Loads the query encoder of a task on first use and keeps it for later states of the index.

    Not thread-safe.

    Args:
        default: The task whose query encoder the served index has; None is the model's default query encoder.
    """

    def __init__(self, default: str | None) -> None:
        self._default = default
        self._encoders: dict[str | None, Encoder] = {}
        self._index: PhraseIndex | None = None
        self._indexes: dict[str | None, PhraseIndex] = {}

    def for_task(self, index: PhraseIndex, task: str | None) -> PhraseIndex:
        """The index with the query encoder of a task, None the model's default one."""
        if task == self._default:
            return index
        if index is not self._index:
            self._index, self._indexes = index, {}
        if task not in self._indexes:
            if task not in self._encoders:
                self._encoders[task] = index.encoder.with_task(task)
            self._indexes[task] = PhraseIndex(index.folder, self._encoders[task])
        return self._indexes[task]
