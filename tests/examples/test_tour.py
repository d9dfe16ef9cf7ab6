"""The notebook: its cells run in order and give the outputs that are stored in it."""

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from ..doc_shell import same_output

NOTEBOOK = Path(__file__).parents[2] / "examples" / "tour.ipynb"

pytestmark = pytest.mark.docs


def test_cells_give_what_they_show() -> None:
    names: dict[str, Any] = {}
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            printed, value = run(source, names)
            assert same_output(shown(cell, "stream"), printed), source
            assert same_output(shown(cell, "execute_result"), "" if value is None else repr(value)), source
            assert hasattr(value, "_repr_html_") == ("text/html" in str(cell["outputs"])), source


def run(source: str, names: dict[str, Any]) -> tuple[str, Any]:
    """What a cell prints, and the value of its last line if that is an expression."""
    *statements, last = ast.parse(source).body
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module([*statements], []), "cell", "exec"), names)  # noqa: S102
        if isinstance(last, ast.Expr):
            return printed.getvalue(), eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
        exec(compile(ast.Module([last], []), "cell", "exec"), names)  # noqa: S102
    return printed.getvalue(), None


def shown(cell: dict[str, Any], kind: str) -> str:
    outputs = [output for output in cell["outputs"] if output["output_type"] == kind]
    return "".join("".join(output.get("text") or output["data"]["text/plain"]) for output in outputs)
