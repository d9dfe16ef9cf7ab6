"""Reading comprehension against a search of all spans, with random vectors in place of a model."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage
from densephrases.errors import DataError
from densephrases.evaluate import reading
from densephrases.evaluate.reading import (
    EncodedDataset,
    NumpyPassageScores,
    Prediction,
    ReadingScores,
    SpanScorer,
    encode_dataset,
    read_collection,
    read_passages,
)
from densephrases.index.kinds import Quantizer
from densephrases.index.segment.passage_terms import SegmentTerms
from densephrases.index.vectors.store import VectorStore
from densephrases.model.config import ModelConfig
from densephrases.model.encoder import Encoder, PassageVectors, QuestionVectors
from densephrases.model.padding import TokenBatch
from densephrases.model.tokenizer import phrase_max_span
from densephrases.search.ranking.contenders import CONTENDERS, Contenders
from densephrases.search.ranking.features import FEATURES
from densephrases.search.ranking.linear import PhraseRanking
from densephrases.search.scoring import in_passage as spans
from densephrases.search.scoring.lexical import REPETITION_SHARE, QuestionTerms, TermWeights
from densephrases.text.hashed_terms import terms
from densephrases.text.passages import Passage
from densephrases.text.searched_text import SearchedText
from tests.index.made_up import code_for

HIDDEN = 32


class RandomEncoder(Encoder):
    """Each word is a token with a random vector."""

    def __init__(self, seed: int, coherency: bool = False) -> None:
        self.config = ModelConfig(
            base="random",
            backbone={"hidden_size": HIDDEN},
            share=coherency,
            split=coherency,
            max_words=3,
            length_penalty=0.2 * (seed % 2),
            lexical_weight=2.0 * (seed // 2),
        )
        self.random = np.random.default_rng(seed)

    def normal(self, *shape: int) -> Floats:
        return self.random.normal(size=shape).astype(np.float32)

    def encode_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        return [self.passage(passage.text) for passage in passages]

    def passage(self, text: str) -> PassageVectors:
        offsets = word_offsets(text)
        max_span = phrase_max_span(text, offsets, self.config.max_words)
        return PassageVectors(self.normal(len(offsets), HIDDEN), self.normal(len(offsets), 2), offsets, max_span)

    def encode_questions(self, questions: Sequence[str]) -> QuestionVectors:
        count = len(questions)
        coherency = 5 * self.normal(count) if self.config.split else None
        return QuestionVectors(self.normal(count, HIDDEN), self.normal(count, HIDDEN), coherency)

    def forward_passages(self, batch: TokenBatch) -> tuple[Floats, Floats]:
        raise NotImplementedError

    def forward_questions(self, batch: TokenBatch) -> tuple[Floats, Floats, Floats | None]:
        raise NotImplementedError


def word_offsets(text: str) -> NDArray[np.int64]:
    ends = np.cumsum([len(word) + 1 for word in text.split()]) - 1
    starts = ends - [len(word) for word in text.split()]
    return np.stack([starts, ends], axis=1).astype(np.int64).reshape(-1, 2)


def question(number: Any, *gold_texts: str) -> Question:
    pairs = [(n, n % 3 + k) for n in range(len(str(number)), 9, 2) for k in (0, 1, 5)]
    words = " ".join(f"p{n}w{k}" for n, k in pairs)  # each stands in one passage at most
    return Question(str(number), f"question {number} {words}?", tuple(GoldAnswer(gold, 0) for gold in gold_texts))


def passage(number: int, words: int, *questions: Question) -> QuestionedPassage:
    """In sentences of three words, with one of the words in the title."""
    text = " ".join(f"{'pP'[word % 3 == 0]}{number}w{word}{'.' * (word % 3 == 2)}" for word in range(words))
    return QuestionedPassage(Passage(text, f"About P{number}w1"), number, questions)


def random_file(seed: int) -> list[QuestionedPassage]:
    """Passages of 0 to 12 words with 0 to 3 questions each, the last one empty but asked about."""
    random = np.random.default_rng(seed)
    made = [
        passage(n, int(random.integers(13)), *(question(f"{n}-{q}", "x") for q in range(random.integers(4))))
        for n in range(9)
    ]
    return [*made, passage(9, 0, question("empty", "x"))]


def brute_scores(
    encoded: EncodedDataset, config: ModelConfig, threshold: float | None, row: int, number: int
) -> dict[tuple[int, int], float]:
    """The score of every span of a passage for a question."""
    vectors, questions = encoded.passage_vectors[number], encoded.question_vectors
    best = vectors.filter_T2.max(axis=1, initial=-np.inf)
    allowed = [threshold is None or value > threshold or value == best.max() for value in best]
    scores = {}
    for i in range(len(best)):
        for j in range(i, min(i + config.max_words, len(best))):
            if allowed[i] and allowed[j]:
                one, other = vectors.vectors_TD[i], vectors.vectors_TD[j]
                scores[i, j] = float(one @ questions.start_BD[row] + other @ questions.end_BD[row])
                if questions.coherency_B is not None:
                    _, _, left, right = config.split_parts
                    scores[i, j] += float(questions.coherency_B[row] * (one[left] @ other[right]))
                characters = int(vectors.offsets_T2[j, 1] - vectors.offsets_T2[i, 0])
                scores[i, j] -= config.length_penalty * characters
    return scores


def worth(encoded: EncodedDataset, words: set[int]) -> float:
    passages = [terms(p.passage.title) | terms(p.passage.text) for p in encoded.passages]
    having = [sum(term in each for each in passages) for term in words]
    return sum(math.log1p((len(passages) - n + 0.5) / (n + 0.5)) for n in having)


def passage_cost(encoded: EncodedDataset, row: int, number: int) -> float:
    """For the words of a question that the passage lacks."""
    passage = encoded.passages[number].passage
    return worth(encoded, terms(encoded.questions[row][1].text) - terms(passage.text) - terms(passage.title))


def phrase_cost(encoded: EncodedDataset, row: int, number: int, span: tuple[int, int]) -> float:
    """For the words that the phrase repeats."""
    words = encoded.passages[number].passage.text.split()[span[0] : span[1] + 1]
    return REPETITION_SHARE * worth(encoded, terms(encoded.questions[row][1].text) & terms(" ".join(words)))


def brute_scores_with_words(
    encoded: EncodedDataset, config: ModelConfig, threshold: float | None, row: int, number: int
) -> dict[tuple[int, int], float]:
    scores = brute_scores(encoded, config, threshold, row, number)
    weight = config.lexical_weight
    return {span: score - weight * phrase_cost(encoded, row, number, span) for span, score in scores.items()}


def span_text(encoded: EncodedDataset, number: int, span: tuple[int, int]) -> str:
    return " ".join(encoded.passages[number].passage.text.split()[span[0] : span[1] + 1])


def check(prediction: Prediction, encoded: EncodedDataset, found: dict[int, dict[tuple[int, int], float]]) -> None:
    """The prediction is the best of the spans found in the given passages."""
    flat = [(score, number, span) for number, spans in found.items() for span, score in spans.items()]
    if not flat:
        assert (prediction.answer, prediction.score) == ("", -math.inf)
        return
    score, number, span = max(flat)
    assert prediction.score == pytest.approx(score, rel=1e-4, abs=1e-4)
    assert (prediction.passage, prediction.answer) == (number, span_text(encoded, number, span))


every_setting = pytest.mark.parametrize(
    ("seed", "coherency", "threshold"),
    [
        (seed, coherency, threshold)
        for seed in range(4)
        for coherency in (False, True)
        for threshold in (None, -0.5, 0.8, 99)
    ],
)


@every_setting
def test_own_passage_like_brute_force(seed: int, coherency: bool, threshold: float | None) -> None:
    encoder = RandomEncoder(seed, coherency)
    encoded = encode_dataset(encoder, random_file(seed))
    predictions = read_passages(encoded, encoder.config, threshold)
    assert [p.question for p in predictions] == [asked for _, asked in encoded.questions]
    for row, (number, _) in enumerate(encoded.questions):
        scores = brute_scores_with_words(encoded, encoder.config, threshold, row, number)
        check(predictions[row], encoded, {number: scores})


@every_setting
def test_collection_like_brute_force(
    seed: int, coherency: bool, threshold: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "QUESTIONS_AT_ONCE", 4)
    monkeypatch.setattr(spans, "_FIRST_SPANS", 1)
    encoder = RandomEncoder(seed, coherency)
    encoded = encode_dataset(encoder, random_file(seed))
    advanced: list[int] = []
    predictions = read_collection(encoded, encoder.config, threshold, advanced.append)
    assert sum(advanced) == len(predictions) == len(encoded.questions)
    for row, prediction in enumerate(predictions):
        found = {}
        for number in range(len(encoded.passages)):
            cost = encoder.config.lexical_weight * passage_cost(encoded, row, number)
            scores = brute_scores_with_words(encoded, encoder.config, threshold, row, number)
            found[number] = {span: score - cost for span, score in scores.items()}
        check(prediction, encoded, found)


RANKING = {"temperature": 2.0} | {name: (-1) ** place * (0.3 + place / 9) for place, name in enumerate(FEATURES)}


def ranked_by_hand(
    encoded: EncodedDataset, config: ModelConfig, row: int, scored: dict[int, dict[tuple[int, int], float]]
) -> tuple[float, str]:
    """Score and text of the best of the first 20 distinct phrases, ranked again one question at a time."""
    flat = sorted((-score, number, span) for number, spans in scored.items() for span, score in spans.items())
    first: dict[tuple[int, str], tuple[float, int, tuple[int, int]]] = {}
    for negative, number, span in flat:
        first.setdefault((number, span_text(encoded, number, span).lower().strip(".")), (-negative, number, span))
    kept = list(first.values())[:CONTENDERS]
    passages = [encoded.passages[number].passage for _, number, _ in kept]
    offsets = [encoded.passage_vectors[number].offsets_T2[list(span)] for _, number, span in kept]
    spans_N2 = np.array([(both[0, 0], both[1, 1]) for both in offsets], dtype=np.int64)
    weight = config.lexical_weight
    contenders = Contenders(
        np.array([0, len(kept)]),
        np.array([score for score, _, _ in kept], dtype=np.float32),
        np.array([weight * passage_cost(encoded, row, number) for _, number, _ in kept], dtype=np.float32),
        np.array([number for _, number, _ in kept]),
        spans_N2,
        [SearchedText(p.text) for p in passages],
        [SearchedText(p.title) for p in passages],
    )
    segment = SegmentTerms.from_passages([p.passage for p in encoded.passages])
    text = encoded.questions[row][1].text
    asked = QuestionTerms.from_questions([text], TermWeights.from_segments([segment]), weight) if weight else None
    scores = PhraseRanking.from_dict(RANKING).scores(contenders, asked)
    return float(scores.max()), contenders.phrase_texts[int(scores.argmax())]


@every_setting
@pytest.mark.parametrize("own", [True, False])
def test_the_first_phrases_are_ranked_again(
    seed: int, coherency: bool, threshold: float | None, own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "QUESTIONS_AT_ONCE", 4)
    encoder = RandomEncoder(seed, coherency)
    encoded, config = encode_dataset(encoder, random_file(seed)), encoder.config.with_ranking(RANKING)
    predictions = (read_passages if own else read_collection)(encoded, config, threshold)
    assert [p.question for p in predictions] == [asked for _, asked in encoded.questions]
    for row, (own_number, _) in enumerate(encoded.questions):
        found = {}
        for number in [own_number] if own else range(len(encoded.passages)):
            cost = 0.0 if own else config.lexical_weight * passage_cost(encoded, row, number)
            scores = brute_scores_with_words(encoded, config, threshold, row, number)
            found[number] = {span: score - cost for span, score in scores.items()}
        if not any(found.values()):
            assert (predictions[row].answer, predictions[row].score) == ("", -math.inf)
            continue
        score, text = ranked_by_hand(encoded, config, row, found)
        assert predictions[row].score == pytest.approx(score, rel=1e-4, abs=1e-4)
        assert predictions[row].answer == text


@every_setting
def test_no_phrase_exceeds_its_passages_bound(seed: int, coherency: bool, threshold: float | None) -> None:
    encoder = RandomEncoder(seed, coherency)
    encoded = encode_dataset(encoder, random_file(seed))
    scorer = SpanScorer(encoded, encoder.config, threshold)
    bounds = scorer.passage_bounds(np.arange(len(encoded.questions)), NumpyPassageScores(*scorer.kept_vectors()))
    for row, number in np.ndindex(bounds.shape):
        scores = brute_scores(encoded, encoder.config, threshold, row, number).values()
        assert max(scores, default=-math.inf) <= bounds[row, number] + 1e-4


def test_a_high_threshold_leaves_one_token() -> None:
    encoder = RandomEncoder(0)
    encoded = encode_dataset(encoder, [passage(0, 8, question("q", "x"))])
    best = int(encoded.passage_vectors[0].filter_T2.max(axis=1).argmax())
    (prediction,) = read_passages(encoded, encoder.config, 1e9)
    assert prediction.answer == encoded.passages[0].passage.text.split()[best]


@pytest.mark.parametrize("coherency", [False, True])
def test_a_file_of_empty_passages_has_empty_answers(coherency: bool) -> None:
    encoder = RandomEncoder(0, coherency)
    encoded = encode_dataset(encoder, [passage(0, 0, question("q", "x")), passage(1, 0)])
    for predictions in (read_passages(encoded, encoder.config), read_collection(encoded, encoder.config)):
        assert [(p.answer, p.score) for p in predictions] == [("", -math.inf)]


def test_unanswerable_questions_are_counted_but_not_asked() -> None:
    file = [passage(0, 3, question("a", "x"), question("b")), passage(1, 2, question("c"), question("d", "y", "z"))]
    encoded = encode_dataset(RandomEncoder(0), file)
    assert encoded.unanswerable == 2
    assert [(number, asked.id) for number, asked in encoded.questions] == [(0, "a"), (1, "d")]
    assert len(encoded.question_vectors) == 2
    assert len(encoded.passage_vectors) == 2


@pytest.mark.parametrize("file", [[], [passage(0, 3)], [passage(0, 3, question("a")), passage(1, 0)]])
def test_nothing_to_evaluate(file: list[QuestionedPassage]) -> None:
    with pytest.raises(DataError, match="no question with an answer"):
        encode_dataset(RandomEncoder(0), file)


def test_scores_are_means_of_the_best_gold_in_percent() -> None:
    predictions = [
        Prediction(question(1, "Denver", "Denver Broncos"), "the Denver Broncos", 0, 1.0),
        Prediction(question(2, "red car"), "car", 0, 1.0),
        Prediction(question(3, "x"), "y", 0, 1.0),
        Prediction(question(4, "x"), "", 0, -math.inf),
    ]
    scores = ReadingScores.from_predictions(predictions)
    assert (scores.questions, scores.exact_match) == (4, 25.0)
    assert scores.f1 == pytest.approx(100 * (1 + 2 / 3) / 4)


def test_positions_of_golds_do_not_matter() -> None:
    """A gold answer that stands elsewhere than the file says still counts by its text."""
    wrong = Question("q", "?", (GoldAnswer("Paris", 10**6),))
    assert ReadingScores.from_predictions([Prediction(wrong, "paris", 0, 0.0)]).exact_match == 100


@pytest.mark.parametrize("quantizer", ["int4", "pq"])
def test_kept_tokens_are_read_as_an_index_keeps_them(quantizer: Quantizer) -> None:
    encoded = encode_dataset(RandomEncoder(seed=5), random_file(5))
    pq = code_for(encoded.passage_vectors[0].vectors_TD.shape[1])
    threshold = 0.2
    found = encoded.quantized(quantizer, pq, threshold)
    masks = [passage.kept(threshold) for passage in encoded.passage_vectors]
    rows = [p.vectors_TD[mask] for p, mask in zip(encoded.passage_vectors, masks, strict=True)]
    store = VectorStore.from_vectors(np.concatenate(rows), np.array([len(r) for r in rows]), quantizer, pq)
    coded = [p.vectors_TD[mask] for p, mask in zip(found.passage_vectors, masks, strict=True)]
    assert np.concatenate(coded).tolist() == store.decode(slice(None)).tolist()
    for plain, changed, mask in zip(encoded.passage_vectors, found.passage_vectors, masks, strict=True):
        assert changed.vectors_TD[~mask].tolist() == plain.vectors_TD[~mask].tolist()
        assert changed.filter_T2 is plain.filter_T2
    assert not np.array_equal(np.concatenate(coded), np.concatenate(rows))
