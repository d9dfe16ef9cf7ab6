"""Questions that a search can encode."""

from collections.abc import Sequence

from densephrases.errors import DataError


def checked_questions(questions: Sequence[str]) -> list[str]:
    """The questions; DataError names the first that is no text with a word."""
    if not isinstance(questions, Sequence):
        raise DataError(f"questions={questions!r} is neither a question nor a list of questions.")
    for number, question in enumerate(questions, start=1):
        if not isinstance(question, str) or not question.strip():
            raise DataError(f"Question {number} is {question!r}; expected a text with at least one word.")
        try:
            question.encode()
        except UnicodeEncodeError as error:  # so Python spells bytes of a command line that are not UTF-8
            raise DataError(f"Question {number} is {question!a}, which is not Unicode; write it in UTF-8.") from error
    return list(questions)
