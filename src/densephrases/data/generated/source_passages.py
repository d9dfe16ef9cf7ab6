"""The passages that questions are generated for: from SQuAD files or from documents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from densephrases.data.squad import read_squad
from densephrases.errors import DataError
from densephrases.text.passages import Passage, split_passages
from densephrases.text.readers.files import split_name
from densephrases.text.readers.read import read_documents


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A passage, the number of its article, and the questions that people have asked about it."""

    id: str
    passage: Passage
    article: int
    questions: tuple[str, ...] = ()


def read_source(paths: Sequence[Path], limit: int | None = None) -> Iterator[SourcePassage]:
    """The passages of all files in order, at most `limit`. `.json` is SQuAD JSON, anything else are documents."""
    number, article = 0, 0
    for path in paths:
        first = article
        for source in _passages(path, first):
            if number == limit:
                return
            number += 1
            article = source.article + 1
            yield source
    if not number:
        names = ", ".join(f"'{path}'" for path in paths)
        raise DataError(f"No passage found in {names or 'an empty list of files'}; expected SQuAD JSON or documents.")


def _passages(path: Path, first: int) -> Iterator[SourcePassage]:
    if split_name(path)[1] == ".json":
        return _squad(path, first)
    return _documents(path, first)


def _squad(path: Path, first: int) -> Iterator[SourcePassage]:
    stem = split_name(path)[0]
    for number, entry in enumerate(read_squad(path)):
        asked = tuple(question.text for question in entry.questions)
        yield SourcePassage(f"{stem}#{number}", entry.passage, first + entry.article, asked)


def _documents(path: Path, first: int) -> Iterator[SourcePassage]:
    stem = split_name(path)[0]
    for article, document in enumerate(read_documents([path])):
        for number, span in enumerate(split_passages(document.text)):
            passage = Passage(document.text[span.start : span.end], document.title)
            yield SourcePassage(f"{stem}#{document.id}#{number}", passage, first + article)
