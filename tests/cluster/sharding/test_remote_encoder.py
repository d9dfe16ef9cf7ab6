"""An encoder whose graphs are elsewhere."""

from typing import Any

import numpy as np

from densephrases.cluster.sharding.remote_encoder import RemoteEncoder
from densephrases.model.encoder import QuestionVectors
from tests.index.made_up import HashEncoder
from tests.serve.running import TwoTasks


def test_questions_are_encoded_elsewhere() -> None:
    base, calls = HashEncoder(), list[tuple[str, tuple[Any, ...]]]()

    def call(method: str, arguments: tuple[Any, ...]) -> QuestionVectors:
        calls.append((method, arguments))
        return base.encode_questions(arguments[0])

    encoder = RemoteEncoder(base, call)
    found = encoder.encode_questions(("where?", "who?"))
    assert np.array_equal(found.start_BD, base.encode_questions(["where?", "who?"]).start_BD)
    assert calls == [("encode_questions", (["where?", "who?"], None))]
    assert encoder.fingerprint == base.fingerprint
    encoder.open_ahead(reading=True)


def test_tasks_and_pairs_are_passed_on() -> None:
    calls: list[tuple[str, tuple[Any, ...]]] = []

    def call(method: str, arguments: tuple[Any, ...]) -> list[Any]:
        calls.append((method, arguments))
        return []

    encoder = RemoteEncoder(TwoTasks(), call)
    assert encoder.with_task("upside-down").tasks == ["upside-down"]
    assert encoder.read([]) == []
    assert calls == [("read", ([], None))]
