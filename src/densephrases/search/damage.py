"""What to say when a search fails: damaged files come before the error that they cause."""

from collections.abc import Iterator
from contextlib import contextmanager

from densephrases.errors import DensePhrasesError, PhraseIndexError
from densephrases.search.searcher import Searcher


@contextmanager
def damage_explained(searcher: Searcher) -> Iterator[None]:
    """Damaged arrays can fail in any way: after an unexpected error, report a damaged file if one is found quickly."""
    try:
        yield
    except DensePhrasesError:
        raise
    except Exception as error:
        if searcher.retriever.damage:
            raise PhraseIndexError(searcher.retriever.damage) from error
        error.add_note(
            "The small files of the index are as they were written; `densephrases check INDEX` verifies all files."
        )
        raise
