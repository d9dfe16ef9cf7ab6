"""A user's own questions with their answers: CSV or TSV with a header, or any other format of questions."""

import csv
from collections.abc import Iterator
from pathlib import Path

from densephrases.data.formats import READERS, recognise
from densephrases.data.questions import FORMATS, FileLocation, OpenQuestion, content_of
from densephrases.errors import DataError
from densephrases.text.readers.files import split_name

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_FORMATS = ", ".join((*(suffix[1:] for suffix in _DELIMITERS), FORMATS))


def read_pairs(path: Path) -> list[OpenQuestion]:
    """The questions of a file. One without an answer asks for what the documents do not say."""
    content = content_of(path, _FORMATS)
    suffix = split_name(path)[1]
    header = content.lstrip("\ufeff").partition("\n")[0].lower()
    is_table = suffix in _DELIMITERS and "question" in header and not header.startswith(("{", "["))
    questions = list(_rows(path, content, _DELIMITERS[suffix]) if is_table else READERS[recognise(path)](path))
    if not questions:
        raise DataError(f"'{path}' has no question; expected pairs of a question and an answer.")
    return questions


def _rows(path: Path, content: str, delimiter: str) -> Iterator[OpenQuestion]:
    rows = csv.DictReader(content.lstrip("\ufeff").splitlines(), delimiter=delimiter)
    columns = [name.strip().lower() for name in rows.fieldnames or []]
    if "question" not in columns or "answer" not in columns:
        raise DataError(f"'{path}' has the columns {', '.join(columns)}; expected 'question' and 'answer'.")
    rows.fieldnames = columns
    for number, row in enumerate(rows, start=1):
        question, answer = (row["question"] or "").strip(), (row["answer"] or "").strip()
        if not question:
            raise DataError(f"{FileLocation(path, 'row', number)} has no question.")
        yield OpenQuestion(str(number), question, (answer,) if answer else ())
