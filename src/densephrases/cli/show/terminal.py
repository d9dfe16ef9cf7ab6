"""Answers for a person at a terminal, highlighted in the text around them."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from densephrases.cli.show.answers import MARKED, one_line, printable
from densephrases.search.answers import Answer, around_phrase, source_parts


class ShowInTerminal:
    """Answers, each highlighted in its sentence, or in its passage if the unit is the passage."""

    def __init__(self, no_answer: str, *, repeat_question: bool = False) -> None:
        self.no_answer = no_answer
        self.repeat_question = repeat_question
        self.console = Console(highlight=False)

    def __call__(self, question: str, answers: Sequence[Answer]) -> None:
        if self.repeat_question:
            self.console.print(Text(one_line(question), "bold"))
        table = Table.grid(padding=(0, 1))
        for rank, answer in enumerate(answers, start=1):
            table.add_row(Text(f"{rank}.", "dim"), highlighted(answer, self.console))
            table.add_row("", Text(_source(answer), "dim"))
            for item in answer.items:
                table.add_row("", Text(f"- {one_line(item.text)}", "green"))
            if answer.explanation is not None:
                table.add_row("", Text(one_line(str(answer.explanation)), "dim italic"))
        self.console.print(table if answers else self.no_answer)
        self.console.print()


def show_briefly(question: str, answers: Sequence[Answer]) -> None:
    """The question, its best answer, the sentence, the title and the path."""
    console = Console(highlight=False)
    lines = [Text(question, "bold")]
    for best in answers[:1]:
        lines += [Text(f"  {one_line(best.phrase.text)}", "bold green"), Text("  ").append(highlighted(best, console))]
        lines += [Text(f"  {' · '.join(map(one_line, source_parts(best)))}", "dim"), Text()]
    for line in lines:
        console.print(line, soft_wrap=True)


def highlighted(answer: Answer, console: Console) -> Text:
    """The phrase with the text around it; where there is no colour, it stands between «guillemets»."""
    before, after = around_phrase(answer)
    plain = console.color_system is None or console.no_color
    phrase = printable(MARKED.format(answer.phrase.text) if plain else answer.phrase.text), "bold green"
    return Text.assemble(printable(before).lstrip(), phrase, printable(after).rstrip())


def _source(answer: Answer) -> str:
    confidence = [] if answer.confidence is None else [f"{answer.confidence:.0%} sure"]
    parts = [*map(one_line, source_parts(answer)), f"score {answer.score:.2f}", *confidence]
    return " · ".join([*parts, *(["verified"] if answer.verified else [])])
