"""Questions that the sample does not answer, with the bundled model: their names and numbers lower confidence."""

from dataclasses import replace
from functools import cache
from statistics import fmean

import pytest

from densephrases.model.load import load
from densephrases.sample import articles_path
from densephrases.search.answers import Answer
from densephrases.search.confidence import Calibration
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest, Verify
from densephrases.search.searcher import Searcher
from densephrases.text.documents import Document
from densephrases.text.readers.read import read_documents

TITLES = {"Reykjavík", "Iceland", "Sputnik 1", "Jesse Owens", "Grace Hopper"}
CHARACTERS = 5000  # of each article, so that the index is built in seconds

UNANSWERABLE = (
    "Who was the first president of the United States?",
    "What is the capital of France?",
    "When was Python 4 released?",
)
# A passage is about Eisenhower and the Congress: with full precision the model is 47% sure of him, 55% after reading.
MOST = dict(zip(UNANSWERABLE, (0.65, 0.35, 0.35), strict=True))
ANSWERABLE = ("What is the capital of Iceland?", "Where was Jesse Owens born?", "When was Sputnik 1 launched?")


@cache
def calibration() -> Calibration:
    values = load("small").config.confidence
    assert values is not None
    return Calibration.from_dict(values)


# The weights of evidence in src/densephrases/model/weights/small/config.json come from `tune confidence`.
needs_the_fit = pytest.mark.skipif(
    not calibration().weighs_evidence, reason="the bundled model has no weights for evidence"
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> PhraseIndex:
    articles = (article for article in read_documents([articles_path()]) if article.title in TITLES)
    documents = [Document(each.id, each.text[:CHARACTERS], each.title) for each in articles]
    assert len(documents) == len(TITLES)
    return PhraseIndex.create(tmp_path_factory.mktemp("cases") / "index", documents)


def first_answers(index: PhraseIndex, questions: tuple[str, ...], weights: Calibration) -> list[Answer]:
    """Unverified: verified answers have a confidence of their own."""
    searcher = Searcher.from_snapshot(index.folder.snapshot, index.encoder, weights)
    return [answers[0] for answers in searcher.search(questions, SearchRequest(k=1, explain=True, verify=0))]


def test_what_the_text_lacks_is_evidence(index: PhraseIndex) -> None:
    """Whatever the fit: words of the question that stand neither in the passage nor in the title, above all names."""
    evidence = [a.explanation.evidence for a in first_answers(index, UNANSWERABLE, calibration()) if a.explanation]
    assert all(each.missing > 0.1 for each in evidence), evidence
    assert evidence[0].names == 0, "a passage names the United States, but no first president"
    assert all(each.names > 0.2 for each in evidence[1:]), evidence
    for answer in first_answers(index, ANSWERABLE, calibration()):
        assert answer.explanation is not None
        assert answer.explanation.evidence.names == 0


def test_weights_of_evidence_lower_confidence(index: PhraseIndex) -> None:
    """Whatever the fit: any weights of evidence lower the confidence of these questions more than of the others."""
    without = replace(calibration(), missing=0.0, unstated=0.0, names=0.0, unknown=0.0)
    lowered = replace(without, missing=4.0, names=4.0)

    def shares(questions: tuple[str, ...]) -> list[float]:
        pairs = zip(first_answers(index, questions, lowered), first_answers(index, questions, without), strict=True)
        return [(after.confidence or 0) / (before.confidence or 1) for after, before in pairs]

    assert max(shares(UNANSWERABLE)) < 0.9
    assert min(shares(ANSWERABLE)) > max(shares(UNANSWERABLE))


@needs_the_fit
@pytest.mark.parametrize("verify", [0, "auto"])
@pytest.mark.parametrize("question", UNANSWERABLE)
def test_unanswerable_questions_are_not_answered_with_confidence(
    index: PhraseIndex, question: str, verify: Verify
) -> None:
    (answer,) = index.search(question, k=1, verify=verify)
    assert (answer.confidence or 0) < MOST[question], answer.text


@needs_the_fit
@pytest.mark.parametrize("verify", [0, "auto", 3])
def test_answerable_questions_are_surer(index: PhraseIndex, verify: Verify) -> None:
    def mean_confidence(questions: tuple[str, ...]) -> float:
        return fmean(answers[0].confidence or 0 for answers in index.search(questions, k=1, verify=verify))

    assert mean_confidence(ANSWERABLE) > 2 * mean_confidence(UNANSWERABLE)
