"""`densephrases ask`: one question, a file of questions, or a conversation."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from densephrases.cli.conditions import Since, Until, Where, parse_conditions
from densephrases.cli.lines import counted, read_lines
from densephrases.cli.options import Effort, IndexArgument, IndexModel, LexicalWeight, Task, Truecase, VerifyOption
from densephrases.errors import DataError
from densephrases.index.kinds import DEFAULT_EFFORT
from densephrases.search.request import DEFAULT_K, AskedUnit, SearchRequest

if TYPE_CHECKING:
    from densephrases.cli.show.answers import Show
    from densephrases.search.phrase_index import PhraseIndex

_AT_ONCE = 256
_PROMPT = "Question: "


Question = Annotated[
    str | None, typer.Argument(help="Without one, questions are read from stdin, with a prompt at a terminal.")
]
AnswerCount = Annotated[int, typer.Option("-k", help="Number of answers per question.")]
AnswerUnit = Annotated[
    AskedUnit, typer.Option(help="What counts as one answer; auto chooses by the form of each question.")
]
Overlapping = Annotated[
    bool, typer.Option("--overlapping", help="Show overlapping phrases of one place as answers of their own.")
]
DocumentsFile = Annotated[Path | None, typer.Option(help="File with the ids of the documents to search, one per line.")]
MinConfidence = Annotated[float, typer.Option(help="Drop answers below this probability, from 0 to 1.")]
Why = Annotated[bool, typer.Option("--why", help="Explain each answer: its scores, and what words it matches.")]
JsonLines = Annotated[bool, typer.Option("--json", help="Print one JSON object per question.")]
QuestionsFile = Annotated[Path | None, typer.Option(help="File with one question per line.")]


def ask(
    folder: IndexArgument,
    question: Question = None,
    k: AnswerCount = DEFAULT_K,
    unit: AnswerUnit = "auto",
    overlapping: Overlapping = False,
    where: Where = None,
    since: Since = None,
    until: Until = None,
    documents_file: DocumentsFile = None,
    min_confidence: MinConfidence = 0.0,
    effort: Effort = DEFAULT_EFFORT,
    lexical_weight: LexicalWeight = None,
    truecase: Truecase = True,
    verify: VerifyOption = None,
    why: Why = False,
    model: IndexModel = None,
    task: Task = None,
    as_json: JsonLines = False,
    file: QuestionsFile = None,
) -> None:
    """Answer questions from an index.

    If stdout is not a terminal, each answer is one line of fields separated by tabs: rank, answer, score, confidence,
    title and id of the document, and with --why the explanation. If questions come from a file or from stdin, the
    question is the first field. In a sentence or a passage the phrase stands between «guillemets», as it does at a
    terminal without colours.
    """
    from densephrases.search.phrase_index import PhraseIndex

    if question is not None and file is not None:
        raise DataError("Both a question and --file are given; give only one of them.")
    questions = read_lines(file) if file is not None else None if question is None else [question]
    request = SearchRequest(
        k=k,
        unit=unit,
        overlapping=overlapping,
        where=parse_conditions(where, since, until),
        documents=None if documents_file is None else read_lines(documents_file),
        min_confidence=min_confidence,
        effort=effort,
        lexical_weight=lexical_weight,
        truecase=truecase,
        verify=verify,
        explain=why,
    )
    index = PhraseIndex.open(folder, model, task)
    show = _show(request, as_json, single=question is not None, batch=file is not None)
    if questions is not None:
        answer(index, questions, request, show)
    elif at_terminal():
        converse(index, request, show)
    else:
        for line in _stdin_questions():
            answer(index, [line], request, show)


def no_answer(request: SearchRequest) -> str:
    """The sentence that stands for an empty list of answers."""
    if request.min_confidence > 0:
        return f"No answer with a confidence of at least {request.min_confidence:.0%}."
    if request.filter.matches_all:
        return "No answer: the index holds no text."
    return "No answer: no document meets the conditions."


def _show(request: SearchRequest, as_json: bool, *, single: bool, batch: bool) -> "Show":
    """How answers are shown."""
    from densephrases.cli.show.answers import ShowLines, show_json

    if as_json:
        return show_json
    if sys.stdout.isatty():
        return in_terminal(request, repeat_question=batch)
    return ShowLines(no_answer(request), several=not single)


def in_terminal(request: SearchRequest, *, repeat_question: bool = False) -> "Show":
    from densephrases.cli.show.terminal import ShowInTerminal

    return ShowInTerminal(no_answer(request), repeat_question=repeat_question)


def answer(index: "PhraseIndex", questions: list[str], request: SearchRequest, show: "Show") -> None:
    for first in range(0, len(questions), _AT_ONCE):
        batch = questions[first : first + _AT_ONCE]
        for question, answers in zip(batch, index.search(batch, request=request), strict=True):
            show(question, answers)


def at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def converse(index: "PhraseIndex", request: SearchRequest, show: "Show") -> None:
    """Answer questions until an empty line or the end of input; Ctrl-C cancels only the question."""
    with suppress(ImportError):  # Windows has none
        import readline  # noqa: F401  (gives `input` a history and editing)
    typer.echo(f"{counted(len(index), 'document')}. Ctrl-C cancels a question; an empty line or Ctrl-D ends.")
    while True:
        try:
            question = input(_PROMPT).strip()
            if not question:
                return
            answer(index, [question], request, show)
        except KeyboardInterrupt:
            typer.echo()
        except EOFError:
            typer.echo()
            return


def _stdin_questions() -> Iterator[str]:
    try:
        for line in sys.stdin:
            if line.strip():
                yield line.strip()
    except UnicodeDecodeError as error:
        raise DataError(f"The questions on stdin are not UTF-8 text: {error}.") from error
