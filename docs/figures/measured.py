"""Numbers that figures show: what the bundled model computes for one question and one passage."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

FILE = Path(__file__).with_name("measured.json")
QUESTION = "When does the lease end?"
TITLE = "lease"
PASSAGE = "The lease of the flat ends on 31 March 2027. The rent is 950 euros a month."


@dataclass(frozen=True, slots=True)
class Token:
    """Inner products with the question's two vectors, and the larger logit of the filter."""

    text: str
    start: float
    end: float
    filter: float


@dataclass(frozen=True, slots=True)
class Measured:
    threshold: float
    tokens: tuple[Token, ...]

    @classmethod
    def load(cls) -> Self:
        values = json.loads(FILE.read_text(encoding="utf-8"))
        return cls(values["threshold"], tuple(Token(**token) for token in values["tokens"]))

    def save(self) -> None:
        FILE.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def from_model(cls) -> Self:
        from densephrases import Passage, load

        model = load()
        passage = model.encode_passages([Passage(PASSAGE, TITLE)])[0]
        question = model.encode_questions([QUESTION])
        starts_T, ends_T = (passage.vectors_TD @ vectors_BD[0] for vectors_BD in (question.start_BD, question.end_BD))
        rows = zip(passage.offsets_T2, starts_T, ends_T, passage.filter_T2.max(axis=1), strict=True)
        tokens = (
            Token(PASSAGE[a:b], round(float(s), 1), round(float(e), 1), round(float(f), 1)) for (a, b), s, e, f in rows
        )
        threshold = model.config.filter_threshold
        assert threshold is not None
        return cls(round(threshold, 1), tuple(tokens))

    def kept(self, token: Token) -> bool:
        return token.filter > self.threshold
