"""The bundled model: the same documents give the same index, whether they come together or one by one."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from densephrases.arrays import Bytes
from densephrases.index.segment.files import VECTORS_FILE
from densephrases.model.load import load
from densephrases.sample import SAMPLE_QUESTIONS, articles_path
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from densephrases.text.readers.read import read_documents

QUESTIONS = [sample.question for sample in SAMPLE_QUESTIONS]


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    articles = list(read_documents([articles_path()]))[:4]
    return [Document(each.id, each.text[:1500], each.title) for each in articles]


def built(folder: Path, documents: Sequence[Document], threads: int, at_once: int) -> PhraseIndex:
    """Some documents at once, the others after them, all merged in the end."""
    index = PhraseIndex.create(folder, documents[:at_once], model=load("small", threads=threads))
    for first in range(at_once, len(documents), at_once):
        index.add(documents[first : first + at_once])
    index.optimize()
    return index


def stored(index: PhraseIndex) -> Bytes:
    (segment,) = index.folder.segments
    return np.asarray(segment.blob(VECTORS_FILE))


def test_vectors_and_answers_do_not_depend_on_the_order_of_work(tmp_path: Path, documents: list[Document]) -> None:
    """Nearly all bytes: where a processor rounds a sum in another order, a code may fall to its neighbour."""
    expected = built(tmp_path / "whole", documents, threads=1, at_once=4)
    answers = expected.search(QUESTIONS, k=5, overlapping=True)
    for threads, at_once in ((2, 4), (1, 1), (2, 3)):
        index = built(tmp_path / f"{threads}-{at_once}", documents, threads, at_once)
        assert stored(index).shape == stored(expected).shape
        assert (stored(index) == stored(expected)).mean() > 0.999
        for found, wanted in zip(index.search(QUESTIONS, k=5, overlapping=True), answers, strict=True):
            assert [each.text for each in found][:1] == [each.text for each in wanted][:1]
            assert [each.score for each in found] == pytest.approx([each.score for each in wanted], abs=0.05)


def test_questions_alone_and_together(tmp_path: Path, documents: list[Document]) -> None:
    index = built(tmp_path / "index", documents, threads=2, at_once=4)
    for found, question in zip(index.search(QUESTIONS, k=5, overlapping=True), QUESTIONS, strict=True):
        alone = index.search(question, k=5, overlapping=True)
        assert [each.score for each in found] == pytest.approx([each.score for each in alone], abs=0.05)
        assert [each.text for each in found][:1] == [each.text for each in alone][:1]
