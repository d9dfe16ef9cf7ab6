"""Why an answer stands where it stands, as data and as a readable line."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from densephrases.search.explain.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The parts of an answer's score, and what of the question stands around it.

    Attributes:
        start: Inner product of the question's start vector and the phrase's first token.
        end: That of its end vector and the phrase's last token.
        penalties: What lexical overlap, repetition and length take from both.
        ranking: What the final ranking adds.
        rank: Place before the final ranking and verification, from 1. Phrases after the first 20 that overlap better
            ones are no results and have none.
        reader: Logits of the reader for the phrase; None if its passage was not read.
        matched: Words of the question that the passage or its title has.
        missing: Words of the question that neither has.
        evidence: The same as shares, by which confidence is lowered.
    """

    start: float
    end: float
    penalties: float
    ranking: float
    rank: int
    reader: float | None = None
    matched: Sequence[str] = ()
    missing: Sequence[str] = ()
    evidence: Evidence = field(default_factory=Evidence)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"matched": list(self.matched), "missing": list(self.missing)}

    def __str__(self) -> str:
        parts = [f"start {self.start:.1f}", f"end {self.end:.1f}", f"penalties {-self.penalties:.1f}"]
        if self.ranking:
            parts.append(f"ranking {self.ranking:+.1f}")
        if self.reader is not None:
            parts.append(f"reader {self.reader:.1f}")
        words = [f"has {', '.join(self.matched) or 'no word of the question'}"]
        if self.missing:
            words.append(f"lacks {', '.join(self.missing)}")
        return f"{', '.join(parts)}; found at place {self.rank}; {'; '.join(words)}"
