"""A recipe is a small Python file with a function that returns the whole configuration of a run."""

import importlib.util
import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from densephrases.errors import ConfigError

Recipe = TypeVar("Recipe")


def load_recipe(path: Path, kind: type[Recipe], function: str, data: Path, models: Path) -> Recipe:
    """Calls `function(data, models)` of the recipe file; both folders are where its inputs lie."""
    module = _import(path)
    build = getattr(module, function, None)
    if build is None:
        raise ConfigError(f"Recipe '{path}' has no function '{function}(data, models)'.")
    recipe = build(data, models)
    if not isinstance(recipe, kind):
        raise ConfigError(f"'{function}' of recipe '{path}' gave {type(recipe).__name__}, expected {kind.__name__}.")
    return recipe


def _import(path: Path) -> ModuleType:
    if not path.is_file():
        raise ConfigError(f"Recipe '{path}' does not exist; see the folder recipes/ for examples.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"Recipe '{path}' is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def override(recipe: Recipe, settings: Sequence[str]) -> Recipe:
    """The recipe with settings such as `loop.epochs=2` changed; unknown names and wrong types are refused."""
    for setting in settings:
        name, separator, value = setting.partition("=")
        if not separator:
            raise ConfigError(f"Setting '{setting}' is not of the form name=value.")
        recipe = _override(recipe, name.split("."), value, name)
    return recipe


def _override(part: Any, names: list[str], value: str, whole: str) -> Any:
    known = [f.name for f in fields(part)]
    if names[0] not in known:
        raise ConfigError(f"Setting '{whole}' is unknown: '{names[0]}' is not one of {', '.join(known)}.")
    if len(names) > 1:
        inner = getattr(part, names[0])
        if not is_dataclass(inner):
            raise ConfigError(f"Setting '{whole}' is unknown: '{names[0]}' has no settings of its own.")
        return replace(part, **{names[0]: _override(inner, names[1:], value, whole)})
    expected = get_type_hints(type(part))[names[0]]
    return replace(part, **{names[0]: _convert(value, expected, whole)})


def _convert(text: str, expected: Any, name: str) -> Any:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        value = text
    for option in _options(expected):
        if (converted := _fit(value, option)) is not _MISFIT:
            return converted
    raise ConfigError(f"Setting {name}={text} does not fit: expected {expected}.")


_MISFIT = object()


def _fit(value: Any, option: Any) -> Any:
    """The value as the type asks for it, or _MISFIT."""
    if get_origin(option) is Literal:
        return value if value in get_args(option) else _MISFIT
    if option is NoneType:
        return None if value is None else _MISFIT
    if option is Path and isinstance(value, str):
        return Path(value)
    if option is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if get_origin(option) is tuple and isinstance(value, list):
        items = tuple(_fit(item, get_args(option)[0]) for item in value)
        return _MISFIT if _MISFIT in items else items
    return value if isinstance(option, type) and type(value) is option else _MISFIT


def _options(expected: Any) -> Sequence[Any]:
    return get_args(expected) if get_origin(expected) in (Union, UnionType) else (expected,)
