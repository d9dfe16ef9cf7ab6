"""Documents that are about to be encoded and written to a segment."""

from dataclasses import dataclass, field

from densephrases.index.segment.document_keys import PreparedDocument
from densephrases.text.passages import Passage, passage_of
from densephrases.text.sentences import TextSpan


@dataclass(slots=True)
class Piece:
    """Consecutive passages of a document; `opens` and `closes` say whether its first and its last are among them.

    The pieces of a document share its whole text among them: each has that from `begin` to `end`.
    """

    prepared: PreparedDocument
    spans: list[TextSpan] = field(default_factory=list)
    opens: bool = True
    closes: bool = False
    begin: int = 0

    @property
    def end(self) -> int:
        return len(self.prepared.document.text) if self.closes else self.spans[-1].end

    @property
    def text(self) -> bytes:
        """All of it is encoded already."""
        prepared = self.prepared
        return prepared.text if self.opens and self.closes else prepared.document.text[self.begin : self.end].encode()

    def passages(self) -> list[Passage]:
        return [passage_of(self.prepared.document, span) for span in self.spans]


@dataclass(slots=True)
class Chunk:
    """What is encoded together: whole documents, or pieces of long ones."""

    pieces: list[Piece] = field(default_factory=list)
    passages: int = 0
    characters: int = 0

    def add(self, piece: Piece, span: TextSpan) -> None:
        piece.spans.append(span)
        self.passages += 1
        self.characters += span.length

    def holds(self, characters: int) -> bool:
        return self.characters >= characters

    def texts(self) -> list[Passage]:
        return [passage for piece in self.pieces for passage in piece.passages()]

    @property
    def closes(self) -> bool:
        """Whether it ends with the end of a document."""
        return self.pieces[-1].closes

    @property
    def long(self) -> PreparedDocument | None:
        """The document that it is a piece of, if it has no whole one."""
        first = self.pieces[0]
        return None if first.opens and first.closes else first.prepared
