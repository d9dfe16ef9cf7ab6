"""Every message that the page quotes is one of the program's."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "troubleshooting.md"
HOLE = "\u2026"


def quoted() -> list[str]:
    return re.findall(r"^### `(.*)`$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def messages() -> Iterator[str]:
    """All texts of the package, with a sign for each value in them."""
    for path in (ROOT / "src" / "densephrases").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_quoted_messages_exist() -> None:
    known = "\n".join(messages())
    assert len(quoted()) > 20
    assert [message for message in quoted() if message not in known] == []
