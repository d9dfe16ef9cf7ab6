"""Every public name of the package with its signature, as its source has it: one a line.

Annotations are those of the source, so that the lines are the same in every version of Python.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

import densephrases
from densephrases import errors
from densephrases.search.request import SearchRequest


def described() -> list[str]:
    """Of the package, of its errors, and of the options of a search."""
    found = {name: getattr(densephrases, name) for name in densephrases.__all__}
    raised = {
        name: each for name, each in vars(errors).items() if inspect.isclass(each) and issubclass(each, Exception)
    }
    found |= {each.__name__: each for each in (*raised.values(), SearchRequest)}
    return [line for name in sorted(found) for line in _public(name, found[name])]


def _public(name: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        bases = ", ".join(each.__name__ for each in value.__bases__ if each is not object)
        yield f"class {name}({bases})" if bases else f"class {name}"
        yield from _members(value)
    elif callable(value):
        yield _signature(name, _node(value))
    else:
        yield f"{name}: {type(value).__name__}"


def _members(kind: type) -> Iterator[str]:
    """Fields and methods of the class and of its bases in this package, by name."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        if each.__module__.startswith("densephrases."):
            found |= dict(_own_members(_node(each)))
    yield from (f"  {found[name]}" for name in sorted(found))


def _own_members(node: Any) -> Iterator[tuple[str, str]]:
    for each in node.body:
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and _is_public(each.name):
            yield each.name, _marks(each) + _signature(each.name, each)
        elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and _is_public(each.target.id):
            value = "" if each.value is None else f" = {ast.unparse(each.value)}"
            yield each.target.id, f"{each.target.id}: {ast.unparse(each.annotation)}{value}"


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name in ("__init__", "__len__", "__enter__", "__aenter__", "__contains__")


def _marks(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    decorators = [ast.unparse(each) for each in node.decorator_list]
    wait = ["async"] if isinstance(node, ast.AsyncFunctionDef) else []
    return "".join(f"{each} " for each in [*(f"@{each}" for each in decorators), *wait])


def _signature(name: str, node: Any) -> str:
    returns = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    return f"{name}({ast.unparse(node.args)}){returns}"


def _node(value: Any) -> Any:
    return ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
