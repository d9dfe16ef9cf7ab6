"""The served index, asked with any query encoder of its model."""

from densephrases.model.encoder import Encoder
from densephrases.search.phrase_index import PhraseIndex


class TaskIndexes:
    """Loads a query encoder when it is first asked for, and keeps it for every later state of the index.

    It is for one thread alone.

    Args:
        own: The task whose side the index asks with by itself; None is the model's default one.
    """

    def __init__(self, own: str | None) -> None:
        self._own = own
        self._encoders: dict[str | None, Encoder] = {}
        self._index: PhraseIndex | None = None
        self._indexes: dict[str | None, PhraseIndex] = {}

    def of(self, index: PhraseIndex, task: str | None) -> PhraseIndex:
        """The index asked with the side of a task, None the model's default one."""
        if task == self._own:
            return index
        if index is not self._index:
            self._index, self._indexes = index, {}
        if task not in self._indexes:
            if task not in self._encoders:
                self._encoders[task] = index.encoder.with_task(task)
            self._indexes[task] = PhraseIndex(index.folder, self._encoders[task])
        return self._indexes[task]
