"""Fields of a request body taken over from a dataclass of the library, so that no option is spelled twice."""

import inspect
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, get_type_hints

from pydantic import Field as BodyField

_ATTRIBUTE = re.compile(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)


def body_fields(
    dataclass: Any, constraints: Mapping[str, Mapping[str, Any]], json_types: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Arguments of `pydantic.create_model`: types and defaults of the fields, described as in the docstring.

    Args:
        dataclass: With an `Attributes:` section in its docstring.
        constraints: Limits of some fields, as arguments of `pydantic.Field`.
        json_types: Types of fields that JSON has in another form.
    """
    types = {**get_type_hints(dataclass), **(json_types or {})}
    described = attribute_docs(dataclass)
    return {
        each.name: (
            types[each.name],
            BodyField(_default(each), description=described.get(each.name), **constraints.get(each.name, {})),
        )
        for each in fields(dataclass)
    }


def attribute_docs(documented: Any) -> dict[str, str]:
    """The descriptions in the `Attributes:` section of a docstring, each on one line."""
    section = (inspect.getdoc(documented) or "").partition("Attributes:\n")[2]
    return {name: " ".join(text.split()) for name, text in _ATTRIBUTE.findall(section)}


def _default(field: "Field[Any]") -> Any:
    return ... if field.default is MISSING else field.default
