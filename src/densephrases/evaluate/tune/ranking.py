"""The weights of the final ranking, fitted to the first phrases of questions with known answers.

Weights are evaluated on other articles than those they were fitted to.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

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
PENALTIES = (1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1)  # L2, of weights of standardised features
_CONSTANT = 1e-9  # a smaller deviation of a feature is that of rounding
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
class PartRow:
    """Exact match of the questions of a fold or a file in the former and in the fitted order, cross-validated."""

    part: str
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
    folds: list[PartRow]
    files: list[PartRow]
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
    searcher = Searcher.from_snapshot(index.folder.snapshot, index.encoder)
    numbers = {article: number for number, article in enumerate(sorted({each.article for each in asked}))}
    parts = []
    for first in range(0, len(asked), QUESTIONS_AT_ONCE):
        batch = asked[first : first + QUESTIONS_AT_ONCE]
        contenders, terms = searcher.contenders([each.text for each in batch], SearchRequest())
        parts.append(described(contenders, terms, batch))
        advance(len(batch))
    article_B = np.array([numbers[each.article] for each in asked], dtype=np.int64)
    return replace(FirstPhrases.joined(parts), article_B=article_B)


def described(contenders: Contenders, terms: QuestionTerms | None, asked: Sequence[RankedQuestion]) -> FirstPhrases:
    """The contenders of some questions, as if these were all about one article."""
    pairs = zip(contenders.question_N.tolist(), contenders.phrase_texts, strict=True)
    return FirstPhrases(
        contenders.edges_B,
        np.zeros(len(asked), dtype=np.int64),
        contenders.score_N,
        phrase_features(contenders, terms),
        np.stack([share_features(contenders, temperature) for temperature in TEMPERATURES]),
        np.array([asked[question].gold.right(text) for question, text in pairs], dtype=bool),
    )


def fit_ranking(phrases: FirstPhrases, temperature: int, l2: float, names: Sequence[str] = FEATURES) -> PhraseRanking:
    """The weights of some features, in units of the score, which has weight 1 and is not regularised."""
    columns = [FEATURES.index(name) for name in names]
    features_NF = np.column_stack([phrases.score_N, phrases.features(temperature)[:, columns]]).astype(np.float64)
    lists = Lists(phrases.edges_B, features_NF, phrases.right_N).informative()
    if not len(lists):
        raise DataError("No question has both right and wrong answers among its first; there is nothing to fit.")
    scale_F = lists.features_NF.std(axis=0)
    scale_F = np.where(scale_F > _CONSTANT, scale_F, 1.0)
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
    """The scores of all phrases, with weights fitted to other articles, and the losses of informative questions."""

    score_N: Floats
    losses_B: Numbers

    @property
    def loss(self) -> float:
        return float(self.losses_B.mean())

    @property
    def standard_error(self) -> float:
        return float(self.losses_B.std() / np.sqrt(len(self.losses_B)))


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
    return CrossValidation(score_N, losses_of(phrases, score_N))


def losses_of(phrases: FirstPhrases, score_N: Floats) -> Numbers:
    """The listwise losses of the questions with right and wrong phrases, at the scores' best scale."""
    lists = Lists(phrases.edges_B, score_N[:, None].astype(np.float64), phrases.right_N).informative()
    return lists.losses(fit_weights(lists, np.zeros(1)))


def ranking_report(several: Mapping[str, FirstPhrases], folds: int = FOLDS, l2: float | None = None) -> RankingReport:
    """Of the questions of several files; temperature, and L2 if it is None, are chosen by cross-validated loss."""
    phrases = FirstPhrases.joined(list(several.values()))
    _refuse_one_article(phrases)
    temperature = choose_temperature(phrases, folds)
    l2 = choose_l2(phrases, temperature, folds) if l2 is None else l2
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
        loss_before=float(losses_of(phrases, phrases.score_N).mean()),
        loss=found.loss,
        l2=l2,
        weights=fit_ranking(phrases, temperature, l2).to_dict(),
        folds=_rows(np.char.mod("fold %d", _folds(phrases, folds) + 1), before_B, after_B),
        files=_rows(np.repeat(list(several), list(map(len, several.values()))), before_B, after_B),
        groups=list(_group_rows(phrases, temperature, l2, folds)),
    )


def choose_temperature(phrases: FirstPhrases, folds: int) -> int:
    """The number of the temperature with the least loss."""
    return min(range(len(TEMPERATURES)), key=lambda t: cross_validated(phrases, t, PENALTIES[1], folds).loss)


def choose_l2(phrases: FirstPhrases, temperature: int, folds: int) -> float:
    """The strongest regularisation within one standard error of the least loss.

    Questions of one file are of one kind, and weights that suit them best suit others less: on squad-dev this costs
    0.3 EM, and Natural Questions lose nothing.
    """
    found = {l2: cross_validated(phrases, temperature, l2, folds) for l2 in PENALTIES}
    best = min(found.values(), key=lambda each: each.loss)
    return max(l2 for l2, each in found.items() if each.loss <= best.loss + best.standard_error)


def _rows(names_B: NDArray[np.str_], before_B: Mask, after_B: Mask) -> list[PartRow]:
    return [
        PartRow(str(name), int(here.sum()), _percent(before_B[here]), _percent(after_B[here]))
        for name in np.unique(names_B)
        for here in [names_B == name]
    ]


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
