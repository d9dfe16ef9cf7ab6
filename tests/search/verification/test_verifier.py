"""Verified answers against a ranking by hand, and the same through a whole search with a random model that reads."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.errors import ConfigError, DeadlineExceededError
from densephrases.nn.phrase_model import PhraseModel
from densephrases.search.answers import Answer
from densephrases.search.deadline import Deadline
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import Unit
from densephrases.search.timings import Timings
from densephrases.search.verification.verifier import Verifier, result_key
from densephrases.search.verification.weights import VerificationWeights, VerifiedConfidence
from densephrases.text.documents import Document
from densephrases.text.normalize import normalize_answer
from densephrases.text.words import is_phrase
from tests.search.verification.made_up import MadeUpReader, read_alone, result, word_spans

TEXT = "the tower of paris was built in 1889 by a man on the river. it is a city"
QUESTIONS = ["who built the tower", "when was it built?", "what is it"]
WEIGHTS = VerificationWeights(reader=1.25, unverified=0.75)
CONFIDENCE = VerifiedConfidence(intercept=-1.0, score=0.05, gap=0.1, log_probability=0.2, unverified=1.0, margin=0.1)


def made_up_results(seed: int, unit: Unit = "phrase") -> list[Answer]:
    """Up to twelve distinct results in up to five passages, best first."""
    rng = random.Random(seed)  # noqa: S311
    passages = [
        (f"doc{seed}-{number // 2}", 100 * (number % 2), " ".join(rng.choices(TEXT.split(), k=rng.randint(1, 14))))
        for number in range(rng.randint(1, 5))
    ]
    found: dict[tuple[object, ...], Answer] = {}
    for rank in range(12):
        document, begin, text = rng.choice(passages)
        spans = word_spans(text)
        first = rng.randrange(len(spans))
        last = min(first + rng.randrange(3), len(spans) - 1)
        score, confidence = 40.0 - rank - rng.randrange(2) / 2, 0.9 / (rank + 1)
        made = result(text, (spans[first][0], spans[last][1]), score, confidence, document, begin, unit)
        found.setdefault(result_key(made), made)
    return list(found.values())


def ranked_by_hand(
    encoder: MadeUpReader, question: str, results: Sequence[Answer], count: int, weights: VerificationWeights
) -> list[tuple[float, str, int, str]]:
    """Score, document, passage and text of the best phrase of each passage that is read, best first."""
    passages: dict[tuple[str, int], list[Answer]] = {}
    for each in results:
        passages.setdefault((each.document.id, each.passage_start), []).append(each)
    best = []
    for (document, begin), members in list(passages.items())[:count]:
        text = members[0].passage
        offsets, logits, _ = read_alone(encoder, question, text, members[0].document.title)
        names = [normalize_answer(member.phrase.text) for member in members]
        spans = [
            (float(logits[i][0] + logits[j][1]), offsets[i][0], offsets[j][1])
            for i in range(len(offsets))
            for j in range(i, len(offsets))
            if is_phrase(text, offsets[i][0], offsets[j][1])
        ]
        found = {(m.phrase.start - begin, m.phrase.end - begin) for m in members}
        most = max((score for score, _, _ in spans), default=0.0)
        scored = []
        for reader, start, end in spans:
            if reader == most or (start, end) in found:
                name = normalize_answer(text[start:end])
                sure = members[names.index(name)].confidence or 0.0 if name in names else 0.0
                scored.append(weights.reader * reader + weights.unverified * sure)
        if scored:
            best.append((max(scored), document, begin, text))
    return sorted(best, key=lambda row: -row[0])


@given(st.integers(0, 2**32), st.integers(1, 6), st.sampled_from(QUESTIONS), st.booleans())
def test_the_best_phrases_by_reader_and_search_come_first(
    seed: int, count: int, question: str, null_logit: bool
) -> None:
    encoder, results = MadeUpReader(null_logit=null_logit), made_up_results(seed)
    (answers,) = Verifier(encoder, WEIGHTS)([question], [results], count)
    expected = ranked_by_hand(encoder, question, results, count, WEIGHTS)
    verified = [answer for answer in answers if answer.verified]
    assert answers[: len(verified)] == verified, "verified answers come first"
    # Of phrases with equal reader logits only one is looked at, which may be one that search has not found.
    for answer, (score, *_) in zip(verified, expected, strict=True):
        assert score - WEIGHTS.unverified <= answer.score <= score + 1e-6
    assert {(a.document.id, a.passage_start) for a in verified} == {row[1:3] for row in expected}
    assert all(better.score >= worse.score for better, worse in pairwise(verified))
    keys = [result_key(answer) for answer in answers]
    assert len(set(keys)) == len(keys)
    rest = [answer for answer in results if result_key(answer) not in keys[: len(verified)]]
    assert [replace(a, confidence=None) for a in answers[len(verified) :]] == [
        replace(a, confidence=None) for a in rest
    ]


@given(st.integers(0, 2**32), st.sampled_from(get_args(Unit)))
def test_answers_are_complete_whatever_the_unit(seed: int, unit: Unit) -> None:
    results = made_up_results(seed, unit)
    (answers,) = Verifier(MadeUpReader(), WEIGHTS)(["who"], [results], 3)
    assert len({result_key(answer) for answer in answers}) == len(answers)
    for answer in answers:
        begin = answer.passage_start
        assert answer.unit == unit
        assert answer.passage[answer.start - begin : answer.end - begin] == answer.text
        assert answer.passage[answer.phrase.start - begin : answer.phrase.end - begin] == answer.phrase.text
        first = answer.sentence_start - begin
        assert answer.passage[first : first + len(answer.sentence)] == answer.sentence
        assert answer.sentence_start <= answer.phrase.start
        assert answer.phrase.end <= answer.sentence_start + len(answer.sentence)
    confidences = [answer.confidence or 0.0 for answer in answers]
    assert all(better >= worse for better, worse in pairwise(confidences))


@given(st.lists(st.integers(0, 2**32), min_size=1, max_size=5), st.integers(1, 4))
def test_questions_are_verified_in_a_batch_as_alone(seeds: list[int], count: int) -> None:
    encoder, verifier = MadeUpReader(), Verifier(MadeUpReader(), WEIGHTS)
    questions = [QUESTIONS[number % len(QUESTIONS)] for number in range(len(seeds))]
    several = [made_up_results(seed) for seed in seeds]
    alone = [verifier([question], [each], count)[0] for question, each in zip(questions, several, strict=True)]
    assert Verifier(encoder, WEIGHTS)(questions, several, count) == alone
    assert all(rows == 1 or rows * width <= encoder.tokens_per_batch for rows, width in encoder.shapes)


def test_auto_reads_only_where_confidence_is_low() -> None:
    weights = replace(WEIGHTS, auto_below=0.6, further_below=0.6, passages=2)
    encoder, sure = MadeUpReader(), made_up_results(3)
    unsure = [replace(each, confidence=0.3) for each in sure]
    answers = Verifier(encoder, weights)(QUESTIONS, [sure, unsure, []], "auto")
    assert answers[0] == sure
    assert answers[1] == Verifier(encoder, weights)(QUESTIONS[1:2], [unsure], 2)[0], "still unsure after the first"
    assert answers[2] == []
    encoder.shapes.clear()
    Verifier(encoder, weights)(["who"], [sure], "auto")
    assert encoder.shapes == []


@pytest.mark.parametrize("intercept", [-100.0, 100.0])
def test_auto_reads_on_only_if_the_first_passage_leaves_it_unsure(intercept: float) -> None:
    weights = replace(
        WEIGHTS, auto_below=0.6, further_below=0.3, passages=3, confidence=replace(CONFIDENCE, intercept=intercept)
    )
    encoder, unsure = MadeUpReader(), [replace(each, confidence=0.3) for each in made_up_results(5)]
    assert len({(each.document.id, each.passage_start) for each in unsure}) >= 3
    found = Verifier(encoder, weights)(["who"], [unsure], "auto")
    assert sum(rows for rows, _ in encoder.shapes) == (1 if intercept > 0 else 3), "no passage twice"
    assert found == Verifier(encoder, weights)(["who"], [unsure], 1 if intercept > 0 else 3)


def test_verified_answers_have_a_confidence_of_their_own() -> None:
    results = made_up_results(5)
    verifier = Verifier(MadeUpReader(null_logit=True), replace(WEIGHTS, confidence=CONFIDENCE))
    (answers,) = verifier(["who"], [results], 2)
    (read,) = verifier.read(["who"], [results], slice(2))
    logits = [each.passage.logits_T2 for each in read]
    normalizer = sum(np.log(np.exp(np.concatenate(logits)[:, side]).sum()) for side in range(2))
    (best,) = [each for each in read if each.passage.text == answers[0].passage]
    begin = answers[0].passage_start
    reader = best.passage.logit(answers[0].phrase.start - begin, answers[0].phrase.end - begin)
    assert reader is not None
    assert best.passage.null is not None
    names = {normalize_answer(a.phrase.text): a.confidence or 0.0 for a in reversed(best.results)}
    before = names.get(normalize_answer(answers[0].phrase.text), 0.0)
    gap = answers[0].score - answers[1].score
    logit = -1.0 + 0.05 * answers[0].score + 0.1 * gap + 0.2 * (reader - normalizer) + 1.0 * before
    logit += 0.1 * (reader - best.passage.null)
    assert answers[0].confidence == pytest.approx(1 / (1 + np.exp(-logit)), rel=1e-5)
    without = [replace(each, confidence=None) for each in results]
    assert all(answer.confidence is None for answer in verifier(["who"], [without], 2)[0])


# Through a whole search.

TEXTS = {
    "tower": "The tower was built in 1889. It is in Paris, on the river. A man of the city was born in 1832.",
    "city": "London is a city on the river. The tower of London was built by the man in 1078. It is a tower.",
    "man": "He was born in the city in 1832 and built a tower. Who was it? It was the man of Paris.",
}


@pytest.fixture(scope="module")
def index(tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> PhraseIndex:
    model = PhraseModel.from_base(tiny_base, reads=True)
    model.config = model.config.with_confidence(
        {"intercept": 0.0, "score": 0.01, "gap": 0.1, "share": 0.1, "temperature": 1.0}
    ).with_verification(
        replace(WEIGHTS, auto_below=0.99, further_below=0.99, passages=2, confidence=CONFIDENCE).to_dict()
    )
    documents = [Document(name, 6 * f"{text} " + "\n\n" + text, name) for name, text in TEXTS.items()]
    return PhraseIndex.create(tmp_path_factory.mktemp("index") / "made", documents, model=model.encoder())


def texts(answers: Sequence[Answer]) -> list[tuple[Any, ...]]:
    return [(answer.document.id, answer.start, answer.end, answer.verified) for answer in answers]


@pytest.mark.parametrize("unit", get_args(Unit))
@pytest.mark.parametrize("verify", [1, 3])
def test_a_search_verifies_what_it_has_found(index: PhraseIndex, unit: Unit, verify: int) -> None:
    found = index.search(QUESTIONS, k=40, unit=unit, verify=0, overlapping=True)
    assert not any(answer.verified for answers in found for answer in answers)
    enough = [answers[: max(5, 10, 4 * verify)] for answers in found]
    expected = index.searcher.verification.verifier(QUESTIONS, enough, verify)
    answered = index.search(QUESTIONS, k=5, unit=unit, verify=verify, overlapping=True)
    assert [texts(answers) for answers in answered] == [texts(answers[:5]) for answers in expected]
    for answers in answered:
        assert 1 <= sum(answer.verified for answer in answers) <= verify
        for answer in answers:
            text = index.document(answer.document.id).text  # type: ignore[union-attr]
            assert text[answer.start : answer.end] == answer.text
            assert text[answer.phrase.start : answer.phrase.end] == answer.phrase.text


def test_filters_and_auto(index: PhraseIndex) -> None:
    answers = index.search(QUESTIONS[0], documents=["city"], verify=2)
    assert {answer.document.id for answer in answers} == {"city"}
    assert answers[0].verified
    assert texts(index.search(QUESTIONS[0], verify="auto")) == texts(index.search(QUESTIONS[0], verify=2))
    assert index.search(QUESTIONS[0], k=1, verify=2) == index.search(QUESTIONS[0], verify=2)[:1]
    assert index.search(QUESTIONS[0], documents=[], verify=2) == []


def test_low_confidences_are_dropped_after_verification(index: PhraseIndex) -> None:
    answers = index.search(QUESTIONS[0], verify=2)
    point = answers[1].confidence or 0.0
    kept = index.search(QUESTIONS[0], verify=2, min_confidence=point)
    assert kept == [answer for answer in answers if (answer.confidence or 0.0) >= point]


def test_timings_and_deadlines(index: PhraseIndex) -> None:
    timings = Timings()
    index.search(QUESTIONS, verify=0, timings=timings)
    assert timings.verification == 0
    index.search(QUESTIONS, verify=1, timings=timings)
    assert 0 < timings.verification < timings.total
    deadline = Deadline.never()
    deadline.cancel()
    with pytest.raises(DeadlineExceededError):
        index.searcher.verification.verifier(QUESTIONS[:1], [index.search(QUESTIONS[0])], 2, deadline.check)


def test_the_default_reads_where_confidence_is_low(index: PhraseIndex) -> None:
    assert index.search(QUESTIONS) == index.search(QUESTIONS, verify="auto")
    assert any(answer.verified for answers in index.search(QUESTIONS) for answer in answers)


@pytest.mark.parametrize("verify", [1, "auto"])
def test_a_model_without_a_reading_head_is_refused(tiny_model: PhraseModel, tmp_path: Path, verify: Any) -> None:
    plain = PhraseIndex.create(tmp_path / "index", [Document("a", "The tower.")], model=tiny_model.encoder())
    with pytest.raises(ConfigError, match=rf"verify={verify!r} needs a model that reads, and that of base 'tiny'"):
        plain.search("who", verify=verify)
    assert plain.search("who", verify=0) == plain.search("who")


def test_auto_needs_confidences(tiny_base: Path, tmp_path: Path) -> None:
    encoder = PhraseModel.from_base(tiny_base, reads=True).encoder()
    unsure = PhraseIndex.create(tmp_path / "index", [Document("a", "The tower in Paris.")], model=encoder)
    with pytest.raises(ConfigError, match="verify='auto' needs a model with a calibration"):
        unsure.search("who", verify="auto")
    assert unsure.search("who", verify=1)[0].verified
    assert unsure.search("who", verify=1)[0].confidence is None
