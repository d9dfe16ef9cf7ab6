"""KILT's records and measures (Petroni et al., 2021), by their definitions in its own evaluation.

Every output of a record is a right answer together with the documents that prove it, all of them: its evidence. A
prediction is one answer and documents in the order of how well they seem to prove it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from densephrases.data.matching.em_f1 import best_over_answers, exact_match, f1


@dataclass(frozen=True, slots=True)
class KiltScores:
    """Of one record, or averaged over several; `kilt` scores count only where R-precision is 1."""

    accuracy: float
    exact_match: float
    f1: float
    r_precision: float
    recall_at_5: float
    kilt_accuracy: float
    kilt_exact_match: float
    kilt_f1: float


def scores(answer: str, ranked: Sequence[str], answers: Sequence[str], evidence: Sequence[Iterable[str]]) -> KiltScores:
    """Of an answer and the ids of its documents, best first, none twice, against a record's answers and evidence."""
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
    """Of as many documents as an evidence has the share that belongs to it; the best over all evidence."""
    return max((len(each.intersection(ranked[: len(each)])) / len(each) for each in evidence if each), default=0.0)


def recall_at(ranked: Sequence[str], evidence: Sequence[frozenset[str]], k: int) -> float:
    """The share of different evidence that is complete within k places.

    The documents of one evidence take one place together, the place of the last of them.
    """
    different = list(dict.fromkeys(each for each in evidence if each))
    if not different:
        return 0.0
    missing = [set(each) for each in different]
    places: list[tuple[str, int]] = []
    for number, document in enumerate(ranked):
        owners = [owner for owner, rest in enumerate(missing) if document in rest]
        for owner in owners:
            missing[owner].discard(document)
            places = [place for place in places if place != ("begun", owner)]
            places.append(("begun" if missing[owner] else "complete", owner))
        if not owners:
            places.append(("other", number))
    return sum(kind == "complete" for kind, _ in places[:k]) / len(different)


def mean(all_scores: Sequence[KiltScores]) -> KiltScores:
    """Percentages."""
    count = max(len(all_scores), 1)
    return KiltScores(
        *(100 * sum(getattr(each, name) for each in all_scores) / count for name in KiltScores.__dataclass_fields__)
    )
