"""BM25 finds what bm25s itself would, and a folder can be opened again."""

from pathlib import Path

import bm25s
import numpy as np
import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from densephrases.data.generated import bm25
from densephrases.data.generated.bm25 import Bm25Passages, best, searchable
from densephrases.data.generated.source_passages import SourcePassage, read_source
from densephrases.data.squad import questions_of, read_squad, sample_path
from densephrases.errors import DataError, MissingExtraError
from densephrases.text.passages import Passage


def collection(folder: Path, *passages: Passage) -> Bm25Passages:
    folder.mkdir()
    Bm25Passages.build([SourcePassage(f"#{n}", passage, n) for n, passage in enumerate(passages)], folder)
    return Bm25Passages(folder)


@given(st.lists(st.integers(-1, 6), min_size=1, max_size=60), st.integers(1, 6))
def test_the_best_scores(values: list[int], k: int) -> None:
    scores = np.array(values, dtype=np.float32)
    expected = sorted((n for n, score in enumerate(values) if score > 0), key=lambda n: (-values[n], n))[:k]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25, "BLOCK", 4)
        assert best(scores, k).tolist() == expected


def test_as_bm25s_ranks(tmp_path: Path) -> None:
    sources = list(read_source([sample_path()]))
    (tmp_path / "passages").mkdir()
    steps: list[int] = []
    Bm25Passages.build(sources, tmp_path / "passages", steps.append)
    found = Bm25Passages(tmp_path / "passages")
    assert sum(steps) == len(found) == len(sources)
    assert [(p.id, p.passage, p.article) for p in found] == [(p.id, p.passage, p.article) for p in sources]

    stemmer = Stemmer.Stemmer("english")
    reference = bm25s.BM25()
    texts = [searchable(source.passage) for source in sources]
    reference.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    questions = [question.text for _, question in questions_of(read_squad(sample_path()))]
    stop_words = [*bm25s.stopwords.STOPWORDS_EN, *bm25.QUESTION_WORDS]
    for question, numbers in zip(questions, found.search(questions, 3), strict=True):
        words = bm25s.tokenize(
            [question], stopwords=stop_words, stemmer=stemmer, return_ids=False, show_progress=False
        )[0]
        scores = reference.get_scores(list(dict.fromkeys(words)))
        np.testing.assert_allclose(scores[numbers], np.sort(scores)[::-1][: len(numbers)], rtol=1e-5)


def test_title_and_stems_are_searched(tmp_path: Path) -> None:
    found = collection(
        tmp_path / "x", Passage("It was built in 1889.", "Eiffel Tower"), Passage("Builders of towers."), Passage("No.")
    )
    assert found.search(["who built the eiffel towers?", "what did who do?", "a giraffe"], 5) == [[0, 1], [], []]
    assert found.search([], 5) == []


def test_no_words(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no words"):
        collection(tmp_path / "x", Passage("the"))


def test_without_bm25s(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bm25, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"bm25s, Stemmer.*densephrases\[questions\]"):
        Bm25Passages(tmp_path)
