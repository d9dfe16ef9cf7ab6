"""The weights of the final ranking, fitted to the first phrases of questions with known answers.

Weights are evaluated on other articles than those they were fitted to.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from densephrases.arrays import Floats, Ints, Mask
from densephrases.data.matching.gold_answers import GoldAnswers, gold_answers_of
from densephrases.data.questions import OpenQuestion
from densephrases.data.squad import QuestionedPassage, questions_of
from densephrases.errors import DataError
from densephrases.evaluate.tune.listwise import Lists, fit_weights
from densephrases.evaluate.tune.quantizer import spread_out
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.ranking.contenders import Contenders
from densephrases.search.ranking.features import (
    FEATURES,
    PHRASE_FEATURES,
    SHARE_FEATURES,
    Numbers,
    phrase_features,
    share_features,
)
from densephrases.search.ranking.linear import PhraseRanking
from densephrases.search.request import SearchRequest
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.searcher import QUESTIONS_AT_ONCE, Searcher

FOLDS = 5
TEMPERATURES = (1.0, 2.0, 4.0, 8.0, 16.0)
PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1)  # L2, of weights of standardised features
# What is left out together, to see what it is worth.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "passage terms": ("lexical",),
    "repetition": ("repetition",),
    "sentence and window": ("sentence", "window"),
    "title": ("title",),
    "cut names": ("cut_before", "cut_after"),
    "overlap": ("overlap",),
    "agreement": ("agreement",),
}

# Shape suffixes: B questions, N phrases of all questions, F features, T temperatures.


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A question, what is right, and the article it is about; questions about one article are in one fold."""

    text: str
    gold: GoldAnswers
    article: str


@dataclass(frozen=True, slots=True)
class FirstPhrases:
    """The first phrases of questions, one question after the other, best first; `article_B` numbers the articles."""

    edges_B: Ints
    article_B: Ints
    score_N: Floats
    features_NF: Numbers  # by `PHRASE_FEATURES`
    shares_TNF: Numbers  # by `SHARE_FEATURES`
    right_N: Mask

    def __len__(self) -> int:
        return len(self.article_B)

    @classmethod
    def joined(cls, several: Sequence["FirstPhrases"]) -> "FirstPhrases":
        """The articles of each are other ones than those of the others."""
        counts = np.concatenate([np.diff(each.edges_B) for each in several])
        before = np.cumsum([0, *(int(each.article_B.max(initial=-1)) + 1 for each in several[:-1])])
        return cls(
            np.cumsum([0, *counts]),
            np.concatenate([each.article_B + first for each, first in zip(several, before.tolist(), strict=True)]),
            np.concatenate([each.score_N for each in several]),
            np.concatenate([each.features_NF for each in several]),
            np.concatenate([each.shares_TNF for each in several], axis=1),
            np.concatenate([each.right_N for each in several]),
        )

    def features(self, temperature: int) -> Numbers:
        """(N, F) by `FEATURES`."""
        return np.concatenate([self.features_NF, self.shares_TNF[temperature]], axis=1)

    def right_first(self, score_N: Floats) -> Mask:
        """Whether each question's phrase with the highest score is right; the first of equal ones counts."""
        right_B = np.zeros(len(self), dtype=bool)
        for question, (first, last) in enumerate(
            zip(self.edges_B[:-1].tolist(), self.edges_B[1:].tolist(), strict=True)
        ):
            if last > first:
                right_B[question] = self.right_N[first + int(score_N[first:last].argmax())]
        return right_B


@dataclass(frozen=True, slots=True)
class FoldRow:
    """Exact match of a fold's questions in the former and in the fitted order."""

    fold: int
    questions: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Exact match and mean loss without some features, cross-validated."""

    without: str
    exact_match: float
    loss: float


@dataclass(frozen=True, slots=True)
class RankingReport:
    """Percentages of all questions; `weights` were fitted to all of them.

    Attributes:
        among: Questions with a right phrase among those that are ranked; exact match cannot exceed it.
        gained: Questions whose first answer is right only in the fitted order, cross-validated; `lost`: the contrary.
    """

    questions: int
    before: float
    after: float
    among: float
    gained: int
    lost: int
    loss_before: float
    loss: float
    l2: float
    weights: dict[str, float]
    folds: list[FoldRow]
    groups: list[GroupRow]


def squad_questions(passages: list[QuestionedPassage], limit: int) -> list[RankedQuestion]:
    """At most `limit` questions that have an answer, evenly spaced in the file."""
    asked = [(passages[number].article, question) for number, question in questions_of(passages) if question.answers]
    if not asked:
        raise DataError("No question of the file has an answer; give a SQuAD file with some.")
    return [
        RankedQuestion(q.text, gold_answers_of(OpenQuestion(q.id, q.text, tuple(q.gold_texts)), 0), str(article))
        for article, q in spread_out(asked, limit)
    ]


def open_questions(questions: Sequence[OpenQuestion], limit: int, max_words: int) -> list[RankedQuestion]:
    """At most `limit` questions that have an answer, each an article of its own."""
    asked = [question for question in questions if question.answers]
    if not asked:
        raise DataError("No question of the file has an answer; give a file with some.")
    return [RankedQuestion(q.text, gold_answers_of(q, max_words), q.id) for q in spread_out(asked, limit)]


def first_phrases(
    index: PhraseIndex, asked: Sequence[RankedQuestion], advance: Callable[[int], None] = lambda _: None
) -> FirstPhrases:
    """As the index ranks them without weights; `advance` is called with the number of further questions asked."""
    searcher = Searcher(index.folder.snapshot, index.encoder)
    numbers = {article: number for number, article in enumerate(sorted({each.article for each in asked}))}
    parts = []
    for first in range(0, len(asked), QUESTIONS_AT_ONCE):
        batch = asked[first : first + QUESTIONS_AT_ONCE]
        contenders, terms = searcher.contenders([each.text for each in batch], SearchRequest())
        article_B = np.array([numbers[each.article] for each in batch], dtype=np.int64)
        parts.append(described(contenders, terms, batch, article_B))
        advance(len(batch))
    return _joined_batches(parts)


def described(
    contenders: Contenders, terms: QuestionTerms | None, asked: Sequence[RankedQuestion], article_B: Ints
) -> FirstPhrases:
    pairs = zip(contenders.question_N.tolist(), contenders.phrase_texts, strict=True)
    return FirstPhrases(
        contenders.edges_B,
        article_B,
        contenders.score_N,
        phrase_features(contenders, terms),
        np.stack([share_features(contenders, temperature) for temperature in TEMPERATURES]),
        np.array([asked[question].gold.right(text) for question, text in pairs], dtype=bool),
    )


def _joined_batches(parts: Sequence[FirstPhrases]) -> FirstPhrases:
    joined = FirstPhrases.joined(parts)
    return FirstPhrases(
        joined.edges_B,
        np.concatenate([part.article_B for part in parts]),
        joined.score_N,
        joined.features_NF,
        joined.shares_TNF,
        joined.right_N,
    )


def fit_ranking(phrases: FirstPhrases, temperature: int, l2: float, names: Sequence[str] = FEATURES) -> PhraseRanking:
    """The weights of some features, in units of the score, which has weight 1 and is not regularised."""
    columns = [FEATURES.index(name) for name in names]
    features_NF = np.column_stack([phrases.score_N, phrases.features(temperature)[:, columns]]).astype(np.float64)
    lists = Lists(phrases.edges_B, features_NF, phrases.right_N).informative()
    if not len(lists):
        raise DataError("No question has both right and wrong answers among its first; there is nothing to fit.")
    scale_F = lists.features_NF.std(axis=0)
    scale_F = np.where(scale_F > 0, scale_F, 1.0)
    l2_F = np.array([0.0, *[l2] * len(names)])
    weights_F = fit_weights(Lists(lists.edges_B, lists.features_NF / scale_F, lists.right_N), l2_F) / scale_F
    if weights_F[0] <= 0:
        raise DataError(
            "In these questions the score does not tell right answers from wrong ones, so no ranking was fitted; "
            "train the model further or give other questions."
        )
    weights = dict(zip(names, (weights_F[1:] / weights_F[0]).tolist(), strict=True))
    return PhraseRanking(weights, TEMPERATURES[temperature])


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """The scores of all phrases, with weights fitted to other articles, and the mean loss of questions."""

    score_N: Floats
    loss: float


def cross_validated(
    phrases: FirstPhrases, temperature: int, l2: float, folds: int, names: Sequence[str] = FEATURES
) -> CrossValidation:
    fold_B = _folds(phrases, folds)
    fold_N = np.repeat(fold_B, np.diff(phrases.edges_B))
    score_N = phrases.score_N.copy()
    for fold in range(int(fold_B.max()) + 1):
        ranking = fit_ranking(_chosen(phrases, fold_B != fold), temperature, l2, names)
        here = fold_N == fold
        score_N[here] = ranking.add(phrases.score_N[here], phrases.features(temperature)[here])
    return CrossValidation(score_N, loss_of(phrases, score_N))


def loss_of(phrases: FirstPhrases, score_N: Floats) -> float:
    """The mean listwise loss of the questions with right and wrong phrases, at the scores' best scale."""
    lists = Lists(phrases.edges_B, score_N[:, None].astype(np.float64), phrases.right_N).informative()
    return float(lists.losses(fit_weights(lists, np.zeros(1))).mean())


def ranking_report(phrases: FirstPhrases, folds: int = FOLDS) -> RankingReport:
    """Temperature and L2 are those with the least cross-validated loss."""
    _refuse_one_article(phrases)
    temperature = min(range(len(TEMPERATURES)), key=lambda t: cross_validated(phrases, t, PENALTIES[1], folds).loss)
    l2 = min(PENALTIES, key=lambda penalty: cross_validated(phrases, temperature, penalty, folds).loss)
    found = cross_validated(phrases, temperature, l2, folds)
    before_B, after_B = phrases.right_first(phrases.score_N), phrases.right_first(found.score_N)
    right_B = np.add.reduceat(np.append(phrases.right_N, False), phrases.edges_B[:-1]) * (np.diff(phrases.edges_B) > 0)
    return RankingReport(
        questions=len(phrases),
        before=_percent(before_B),
        after=_percent(after_B),
        among=_percent(right_B > 0),
        gained=int(np.count_nonzero(after_B & ~before_B)),
        lost=int(np.count_nonzero(before_B & ~after_B)),
        loss_before=loss_of(phrases, phrases.score_N),
        loss=found.loss,
        l2=l2,
        weights=fit_ranking(phrases, temperature, l2).to_dict(),
        folds=list(_fold_rows(_folds(phrases, folds), before_B, after_B)),
        groups=list(_group_rows(phrases, temperature, l2, folds)),
    )


def _fold_rows(fold_B: Ints, before_B: Mask, after_B: Mask) -> Iterator[FoldRow]:
    for fold in range(int(fold_B.max()) + 1):
        here = fold_B == fold
        yield FoldRow(fold + 1, int(here.sum()), _percent(before_B[here]), _percent(after_B[here]))


def _group_rows(phrases: FirstPhrases, temperature: int, l2: float, folds: int) -> Iterator[GroupRow]:
    for group, left_out in GROUPS.items():
        names = [name for name in FEATURES if name not in left_out]
        found = cross_validated(phrases, temperature, l2, folds, names)
        yield GroupRow(group, _percent(phrases.right_first(found.score_N)), found.loss)


def _folds(phrases: FirstPhrases, folds: int) -> Ints:
    return np.asarray(phrases.article_B % min(folds, int(phrases.article_B.max()) + 1))


def _refuse_one_article(phrases: FirstPhrases) -> None:
    if int(phrases.article_B.max(initial=-1)) < 1:
        raise DataError(
            "All questions are about one article; a ranking is fitted to some articles and evaluated on others. "
            "Give a file with several."
        )


def _chosen(phrases: FirstPhrases, chosen_B: Mask) -> FirstPhrases:
    counts_B = np.diff(phrases.edges_B)
    chosen_N = np.repeat(chosen_B, counts_B)
    return FirstPhrases(
        np.cumsum([0, *counts_B[chosen_B]]),
        phrases.article_B[chosen_B],
        phrases.score_N[chosen_N],
        phrases.features_NF[chosen_N],
        phrases.shares_TNF[:, chosen_N],
        phrases.right_N[chosen_N],
    )


def _percent(values_B: Mask) -> float:
    return 100 * float(np.mean(values_B)) if len(values_B) else 0.0


assert {name for group in GROUPS.values() for name in group} == {*PHRASE_FEATURES, *SHARE_FEATURES}
