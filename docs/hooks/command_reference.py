"""Hook of mkdocs: the page of all commands with their arguments and options, written from the program's parsers."""

from collections.abc import Iterator
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.main import get_command

from densephrases.cli.main import app

PAGE = "commands.md"
_INTRODUCTION = """# Commands

Every command with its arguments and options, as `--help` shows them. [Commands, extras and layout](layout.md) has them
at a glance.
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    files.append(File.generated(config, PAGE, content=command_page()))
    return files


def command_page() -> str:
    program: Any = get_command(app)
    return "\n".join([_INTRODUCTION, *_sections(program, ("densephrases",))])


def _sections(command: Any, path: tuple[str, ...]) -> Iterator[str]:
    """One section for each command; a group has a heading above those of its commands."""
    for name, each in command.commands.items():
        words = (*path, name)
        yield f"{'#' * len(words)} {' '.join(words)}\n\n{paragraphs(each.help)}\n"
        if hasattr(each, "commands"):
            yield from _sections(each, words)
        else:
            yield from _usage(each, words)


def _usage(command: Any, words: tuple[str, ...]) -> Iterator[str]:
    context = command.make_context(words[-1], [], resilient_parsing=True)
    yield f"```text\n{' '.join([*words, *command.collect_usage_pieces(context)])}\n```\n"
    parameters = sorted(command.get_params(context), key=lambda parameter: parameter.param_type_name)
    rows = [record for parameter in parameters if (record := parameter.get_help_record(context))]
    yield "| argument or option | meaning |\n|---|---|"
    yield from (f"| `{' '.join(names.split())}` | {escaped(' '.join(text.split()))} |" for names, text in rows)
    yield ""


def paragraphs(text: str | None) -> str:
    """Help as Markdown: lines of a paragraph are joined."""
    return "\n\n".join(escaped(" ".join(paragraph.split())) for paragraph in (text or "").split("\n\n"))


def escaped(text: str) -> str:
    """What looks like markup is text."""
    for character in "<>*_[]|":
        text = text.replace(character, f"&#{ord(character)};")
    return text
