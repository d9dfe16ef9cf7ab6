"""KILT's measures (Petroni et al., 2021), as its own evaluation script defines them.

An output of a record is a gold answer with its evidence: the documents that together prove it. A prediction is one
answer and a ranking of documents.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from densephrases.data.matching.em_f1 import best_over_answers, exact_match, f1


@dataclass(frozen=True, slots=True)
class KiltScores:
    """Of one record, or averaged over several. `kilt_` scores are 0 unless R-precision is 1."""

    accuracy: float
    exact_match: float
    f1: float
    r_precision: float
    recall_at_5: float
    kilt_accuracy: float
    kilt_exact_match: float
    kilt_f1: float


def scores(answer: str, ranked: Sequence[str], answers: Sequence[str], evidence: Sequence[Iterable[str]]) -> KiltScores:
    """Scores of an answer and its distinct document ids, best first, against a record's answers and evidence."""
    given = answer.strip()
    right = float(given in answers)
    normal = best_over_answers(exact_match, given, answers) if given and answers else 0.0
    overlap = best_over_answers(f1, given, answers) if given and answers else 0.0
    sets = [frozenset(each) for each in evidence]
    precision = r_precision(ranked, sets)
    proven = float(precision == 1)
    recall = recall_at(ranked, sets, 5)
    return KiltScores(right, normal, overlap, precision, recall, right * proven, normal * proven, overlap * proven)


def r_precision(ranked: Sequence[str], evidence: Sequence[frozenset[str]]) -> float:
    """Precision at R, where R is the number of documents of an evidence; the maximum over all evidence."""
    return max((len(each.intersection(ranked[: len(each)])) / len(each) for each in evidence if each), default=0.0)


def recall_at(ranked: Sequence[str], evidence: Sequence[frozenset[str]], k: int) -> float:
    """The share of distinct evidence that is complete within the first k ranks.

    The documents of one evidence share one rank, that of the last of them.
    """
    distinct = list(dict.fromkeys(each for each in evidence if each))
    if not distinct:
        return 0.0
    missing = [set(each) for each in distinct]
    ranks: list[tuple[str, int]] = []
    for number, document in enumerate(ranked):
        owners = [owner for owner, rest in enumerate(missing) if document in rest]
        for owner in owners:
            missing[owner].discard(document)
            ranks = [rank for rank in ranks if rank != ("begun", owner)]
            ranks.append(("begun" if missing[owner] else "complete", owner))
        if not owners:
            ranks.append(("other", number))
    return sum(kind == "complete" for kind, _ in ranks[:k]) / len(distinct)


def mean(all_scores: Sequence[KiltScores]) -> KiltScores:
    """Averages as percentages."""
    count = max(len(all_scores), 1)
    return KiltScores(
        *(100 * sum(getattr(each, name) for each in all_scores) / count for name in KiltScores.__dataclass_fields__)
    )
