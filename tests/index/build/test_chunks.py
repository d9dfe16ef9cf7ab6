"""Chunks: bounded, in order, ending with documents where they can, and the same wherever the stream begins anew."""

from hypothesis import given
from hypothesis import strategies as st

from densephrases.index.build.chunks import chunks
from densephrases.index.segment.document_keys import PreparedDocument
from densephrases.index.segment.incoming import Chunk
from densephrases.text.documents import Document
from densephrases.text.passages import LONGEST, split_passages
from tests.index.made_up import long_text

DOCUMENTS = st.lists(st.integers(0, 900), max_size=12).map(
    lambda lengths: [PreparedDocument.from_document(Document(str(i), long_text(i, n))) for i, n in enumerate(lengths)]
)


def shape(made: list[Chunk]) -> list[list[tuple[str, bool, bool, list[int]]]]:
    return [
        [(p.prepared.document.id, p.opens, p.closes, [span.start for span in p.spans]) for p in chunk.pieces]
        for chunk in made
    ]


@given(DOCUMENTS, st.integers(1, 4000))
def test_every_passage_once_in_order_and_no_chunk_too_large(made: list[PreparedDocument], limit: int) -> None:
    found = list(chunks(made, limit))
    spans = [(p.prepared.document.id, span) for chunk in found for p in chunk.pieces for span in p.spans]
    assert spans == [(d.document.id, span) for d in made for span in split_passages(d.document.text)]
    assert [p.prepared for chunk in found for p in chunk.pieces if p.opens] == made
    assert [p.prepared for chunk in found for p in chunk.pieces if p.closes] == made
    for chunk in found:
        assert chunk.characters == sum(span.length for p in chunk.pieces for span in p.spans) < 2 * limit + LONGEST
        for piece in chunk.pieces:
            assert (piece.opens and piece.closes) or len(piece.prepared.document.text) > limit


@given(DOCUMENTS, st.integers(1, 4000))
def test_after_the_end_of_a_document_all_is_forgotten(made: list[PreparedDocument], limit: int) -> None:
    whole = list(chunks(made, limit))
    done = 0
    for number, chunk in enumerate(whole):
        done += sum(piece.closes for piece in chunk.pieces)
        if chunk.closes:
            assert shape(list(chunks(made[done:], limit))) == shape(whole[number + 1 :])
