"""A model's encoder of questions and its reading head, computed by a deployment of their own."""

from collections.abc import Callable, Sequence
from typing import Any

from densephrases.model.encoder import DelegatingEncoder, Encoder, QuestionVectors, ReadingLogits
from densephrases.model.tokenizer import Ids, Window

Call = Callable[[str, tuple[Any, ...]], Any]
"""A method of the deployment and its arguments."""


class RemoteEncoder(DelegatingEncoder):
    """Tokenizes here and computes elsewhere.

    Args:
        base: The model, of which no graph is opened here.
        call: Asks the deployment.
    """

    def __init__(self, base: Encoder, call: Call) -> None:
        super().__init__(base, base.config, base.tokens)
        self._call = call

    def with_task(self, task: str | None) -> Encoder:
        return RemoteEncoder(self.base.with_task(task), self._call)

    def open_ahead(self, reading: bool = False) -> None:
        return

    def encode_questions(self, questions: Sequence[str]) -> QuestionVectors:
        vectors: QuestionVectors = self._call("encode_questions", (list(questions), self.query_encoder or None))
        return vectors

    def read(
        self, pairs: Sequence[tuple[Ids, Window]], check: Callable[[], None] = lambda: None
    ) -> list[ReadingLogits]:
        check()
        logits: list[ReadingLogits] = self._call("read", (list(pairs), self.query_encoder or None))
        check()
        return logits
