"""Answers and a small index to be judged."""

from pathlib import Path

from densephrases.search.answers import Answer, PhraseSpan, SourceDocument
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from tests.index.made_up import HashEncoder

CITIES = [
    Document("tower", "The tower in Paris was built by Eiffel.\n\nIt was the year 1889.", "Tower"),
    Document("london", "London is a city on the river. The Paris-born king built it.", "London"),
    Document("paris", "Paris is in France.", "Paris"),
]


def cities(folder: Path) -> PhraseIndex:
    """Built with vectors that mean nothing: what it answers is anybody's guess, but the same every time."""
    return PhraseIndex.create(folder, CITIES, model=HashEncoder(filter_threshold=None))


def answer(text: str, document: str = "d", passage: str = "", start: int = 0, score: float = 1.0) -> Answer:
    """A phrase in a passage that begins at `start` in its document, whose title is the id with a capital."""
    source = SourceDocument(document, document.capitalize(), {})
    passage = passage or text
    at = start + passage.index(text)
    place = PhraseSpan(text, at, at + len(text))
    return Answer(
        text=text,
        score=score,
        confidence=None,
        start=place.start,
        end=place.end,
        document=source,
        passage=passage,
        sentence=passage,
        phrase=place,
        passage_start=start,
        sentence_start=start,
        unit="phrase",
    )
