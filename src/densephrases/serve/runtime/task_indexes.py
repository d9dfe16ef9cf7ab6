"""The served index with the query encoder of any task of its model."""

from densephrases.model.encoder import Encoder
from densephrases.search.answering_index import AnsweringIndex


class TaskIndexes:
    """Loads the query encoder of a task on first use and keeps it for later states of the index.

    Not thread-safe.

    Args:
        default: The task whose query encoder the served index has; None is the model's default query encoder.
    """

    def __init__(self, default: str | None) -> None:
        self._default = default
        self._encoders: dict[str | None, Encoder] = {}
        self._index: AnsweringIndex | None = None
        self._indexes: dict[str | None, AnsweringIndex] = {}

    def for_task(self, index: AnsweringIndex, task: str | None) -> AnsweringIndex:
        """The index with the query encoder of a task, None the model's default one."""
        if task == self._default:
            return index
        if index is not self._index:
            self._index, self._indexes = index, {}
        if task not in self._indexes:
            if task not in self._encoders:
                self._encoders[task] = index.encoder.with_task(task)
            self._indexes[task] = index.with_encoder(self._encoders[task])
        return self._indexes[task]
