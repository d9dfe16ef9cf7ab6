"""Which words of a question are identifiers, and which phrases stand beside them."""

import numpy as np
import pytest

from densephrases.search.ranking.contenders import Contenders
from densephrases.search.ranking.identifiers import identifier_shares, identifiers_of


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What is the default value of max_parallel_workers_per_gather?", ["max_parallel_workers_per_gather"]),
        ("what does --depth do in git clone", ["--depth"]),
        ("which versions does CVE-2024-3094 affect", ["CVE-2024-3094"]),
        ("what does \u00a7 12a say", ["\u00a7 12a"]),
        ("what does os.path.join return?", ["os.path.join"]),
        ('when does "connection refused" appear', ["connection refused"]),
        ("`git gc` and pack.threads", ["git gc", "pack.threads"]),
        ("set -x meaning", ["-x"]),
        ("when was PyObject_Call added", ["PyObject_Call"]),
        ("who won the 34th cup in the 1980s", []),
        ("what is the well-known port of the U.S. server", []),
        ("When was Python 4 released?", []),
    ],
)
def test_identifiers(question: str, found: list[str]) -> None:
    assert list(identifiers_of(question)) == found


def test_only_whole_identifiers_in_the_own_sentence_count() -> None:
    rows = ["wal_size is 1.", "max_wal_size is 2.", "min_wal_size is 3; max_wal_size is above."]
    text = " ".join(rows)
    begins = [text.index(row) for row in rows]
    sentences = np.array([[begin, begin + len(row)] for begin, row in zip(begins, rows, strict=True)])
    count = len(rows)
    contenders = Contenders(
        np.array([0, count, 2 * count]),
        np.zeros(2 * count, dtype=np.float32),
        np.zeros(2 * count, dtype=np.float32),
        np.zeros(2 * count, dtype=np.int64),
        np.concatenate([sentences, sentences]),
        np.concatenate([sentences, sentences]),
        [text] * (2 * count),
        [""] * (2 * count),
    )
    shares = identifier_shares(contenders, ["default of max_wal_size", "min_wal_size or max_wal_size or what"])
    assert shares.tolist() == [0.0, 1.0, 1.0, 0.0, 0.5, 1.0]


def test_questions_without_identifiers_change_nothing() -> None:
    empty = np.zeros(0, dtype=np.float32)
    none = np.zeros((0, 2), dtype=np.int64)
    contenders = Contenders(np.array([0, 0]), empty, empty, np.zeros(0, dtype=np.int64), none, none, [], [])
    assert identifier_shares(contenders, ["who is it"]).shape == (0,)
