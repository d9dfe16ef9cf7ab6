"""The parts of the scores of results, computed again for an explanation."""

from collections.abc import Iterator
from dataclasses import dataclass

from densephrases.model.encoder import QuestionVectors
from densephrases.search.explain.evidence import AskedTerms, Surroundings
from densephrases.search.explain.explanation import Explanation
from densephrases.search.passages import PassageTexts
from densephrases.search.scoring.pairs import Phrases


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """Inner products of a phrase, its score and its rank (from 1) before the final ranking, and its final score."""

    start: float
    end: float
    found: float
    rank: int
    final: float


def score_parts(
    found: Phrases, ranked: Phrases, vectors: QuestionVectors, question: int, texts: PassageTexts
) -> Iterator[ScoreParts]:
    """Of each ranked phrase of a question, with its place among those found."""
    columns = (found.segment_N.tolist(), found.start_N.tolist(), found.end_N.tolist())
    places = {key: place for place, key in enumerate(zip(*columns, strict=True))}
    rows = zip(ranked.segment_N.tolist(), ranked.start_N.tolist(), ranked.end_N.tolist(), strict=True)
    starts, ends = texts.boundary_scores(ranked, vectors.start_BD[question], vectors.end_BD[question])
    parts = zip(rows, starts.tolist(), ends.tolist(), ranked.score_N.tolist(), strict=True)
    for key, start, end, final in parts:
        yield ScoreParts(start, end, float(found.score_N[places[key]]), places[key] + 1, final)


def explanation_of(around: Surroundings, parts: ScoreParts, asked: AskedTerms) -> Explanation:
    matched, missing = asked.matched_words(around)
    return Explanation(
        start=parts.start,
        end=parts.end,
        penalties=parts.start + parts.end - parts.found,
        ranking=parts.final - parts.found,
        rank=parts.rank,
        matched=tuple(matched),
        missing=tuple(missing),
        evidence=asked.evidence(around),
    )
