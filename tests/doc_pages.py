"""What a page of the documentation holds: fenced blocks, shell commands, inline code and links."""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

_FENCE = re.compile(r"^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ASSIGNMENT = re.compile(r"([A-Z_]+)=(.*)", re.DOTALL)
_SHELL = {"&", "&&", "|", ">", "2>", "<", ";"}


@dataclass(frozen=True)
class Block:
    """A fenced block; `follows` says that nothing but space stands between it and the block before."""

    page: Path
    line: int
    language: str
    text: str
    follows: bool

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """All but the log, which is history."""
    documents = sorted(page for page in (ROOT / "docs").rglob("*.md") if page.name != "log.md")
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *documents, ROOT / "recipes" / "questions" / "README.md"]


def blocks(page: Path) -> list[Block]:
    text, found, end = page.read_text(encoding="utf-8"), [], None
    for match in _FENCE.finditer(text):
        follows = end is not None and not text[end : match.start()].strip()
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(page, line, match["language"], match["text"], follows))
        end = match.end()
    return found


def prose(page: Path) -> str:
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def inline_code(page: Path) -> list[str]:
    return [" ".join(code.split()) for code in _INLINE.findall(prose(page))]


def links(page: Path) -> list[str]:
    return _LINK.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """Of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(shell: str) -> list[str]:
    """Commands of a shell block; one that ends in a backslash or within quotes goes on in the next line."""
    found, begun = [], ""
    for line in shell.splitlines():
        begun += line
        if begun.endswith("\\") or _is_open(begun):
            begun += "\n"
            continue
        if begun.strip() and not begun.lstrip().startswith("#"):
            found.append(begun)
        begun = ""
    assert not begun, f"this command has no end: {begun}"
    return found


def session(console: str) -> Iterator[tuple[str, str]]:
    """Commands of a console block, each with the output that is shown below it."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def assignment(command: str) -> tuple[str, str] | None:
    """The variable that a command sets, and its value."""
    words = shlex.split(command, comments=True)
    match = _ASSIGNMENT.fullmatch(words[0]) if len(words) == 1 else None
    return (match[1], match[2]) if match else None


def arguments(command: str, variables: Mapping[str, str]) -> list[str]:
    """A command's words without redirections, variables replaced by their values."""
    for name, value in variables.items():
        command = command.replace(f"${name}", value)
    words = shlex.split(command.replace("\\\n", " "), comments=True)
    end = next((i for i, word in enumerate(words) if word in _SHELL), len(words))
    return words[:end]


def _is_open(line: str) -> bool:
    try:
        shlex.split(line, comments=True)
    except ValueError:
        return True
    return False
