"""Recipes: Python files with a function that returns the complete configuration of a training run."""

import importlib.util
import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from densephrases.errors import ConfigError

Recipe = TypeVar("Recipe")


def load_recipe(path: Path, kind: type[Recipe], function: str, data: Path, models: Path) -> Recipe:
    """Calls `function(data, models)` of the recipe file; both are folders of its inputs."""
    module = _import(path)
    build = getattr(module, function, None)
    if build is None:
        raise ConfigError(f"Recipe '{path}' has no function '{function}(data, models)'; expected a {kind.__name__}.")
    recipe = build(data, models)
    if not isinstance(recipe, kind):
        raise ConfigError(f"'{function}' of '{path}' returned {type(recipe).__name__}, expected {kind.__name__}.")
    return recipe


def _import(path: Path) -> ModuleType:
    if not path.is_file():
        raise ConfigError(f"Recipe '{path}' does not exist; see the folder recipes/ for examples.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"Recipe '{path}' is not a Python file; give a file with the suffix .py.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def override(recipe: Recipe, settings: Sequence[str]) -> Recipe:
    """The recipe with settings such as `loop.epochs=2` replaced; unknown names and wrong types raise ConfigError."""
    for setting in settings:
        name, separator, value = setting.partition("=")
        if not separator:
            raise ConfigError(f"Setting '{setting}' is not of the form name=value, e.g. loop.epochs=2.")
        recipe = _override(recipe, name.split("."), value, name)
    return recipe


def _override(part: Any, names: list[str], value: str, whole: str) -> Any:
    known = [f.name for f in fields(part)]
    if names[0] not in known:
        raise ConfigError(f"Setting '{whole}' is unknown: '{names[0]}' is not one of {', '.join(known)}.")
    current = getattr(part, names[0])
    if len(names) > 1:
        if not is_dataclass(current):
            raise ConfigError(f"Setting '{whole}' is unknown: '{names[0]}' has no settings of its own.")
        return replace(part, **{names[0]: _override(current, names[1:], value, whole)})
    if is_dataclass(current):
        inner = ", ".join(f"{whole}.{f.name}" for f in fields(current))
        raise ConfigError(f"Setting {whole}={value} does not fit: expected one of its settings, {inner}.")
    return replace(part, **{names[0]: _convert(value, get_type_hints(type(part))[names[0]], whole)})


def _convert(text: str, expected: Any, name: str) -> Any:
    """The text as JSON of the expected type; what is not JSON is a string."""
    try:
        json.loads(text)
    except json.JSONDecodeError:
        value = json.dumps(text)
    else:
        value = text
    try:
        return TypeAdapter(expected).validate_json(value, strict=True)
    except ValidationError as error:
        wanted = expected.__name__ if isinstance(expected, type) else str(expected)
        raise ConfigError(
            f"Setting {name}={text} does not fit: expected {wanted}; lists and null are written as JSON."
        ) from error
