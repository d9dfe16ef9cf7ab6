"""Every command, argument and option, one a line."""

import inspect
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from typer.main import get_command

from densephrases.cli.main import app

_NAMES = {Path: "path", str: "text", int: "int", float: "float", bool: "flag"}


def described() -> list[str]:
    return list(_commands(get_command(app), "densephrases"))


def _commands(command: Any, name: str) -> Iterator[str]:
    yield name
    yield from _parameters(command)
    for each in sorted(getattr(command, "commands", {})):
        yield from _commands(command.commands[each], f"{name} {each}")


def _parameters(command: Any) -> Iterator[str]:
    """Arguments in their order, then options by name."""
    types = {} if command.callback is None else _annotations(command.callback)
    known = [each for each in command.params if each.name in types]
    arguments = [each for each in known if each.param_type_name == "argument"]
    options = sorted((each for each in known if each.param_type_name == "option"), key=_longest)
    for each in (*arguments, *options):
        yield f"  {_name(each)}: {_type(types[each.name], each)}{_wanted(each)}"


def _annotations(function: Any) -> dict[str, Any]:
    """By the name of the parameter; typer's own wrapper hides a signature that a command has been given."""
    while "__signature__" not in vars(function) and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return {name: each.annotation for name, each in inspect.signature(function).parameters.items()}


def _longest(option: Any) -> str:
    return max(map(str, option.opts), key=len)


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper()).strip("[]").removesuffix("...").strip("[]")
    return " ".join([*sorted(parameter.opts, key=len, reverse=True), *parameter.secondary_opts])


def _type(annotation: Any, parameter: Any) -> str:
    """Of the annotation, since the parser keeps it in a place that changes."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(inner[0], parameter)
    if origin in (Union, UnionType):
        return " or ".join(_type(each, parameter) for each in inner if each is not NoneType)
    if origin is Literal:
        return "|".join(map(str, inner))
    if origin is list:
        return f"{_type(inner[0], parameter)}, any number"
    if inspect.isclass(annotation) and issubclass(annotation, Enum):
        return "|".join(str(each.value) for each in annotation)
    return _NAMES.get(annotation) or str(parameter.metavar or annotation)


def _wanted(parameter: Any) -> str:
    if parameter.required:
        return ", required"
    default = parameter.default
    shown = default() if callable(default) else default
    return "" if shown is None or shown in ([], (), False) else f" = {shown}"
