"""Manifests of version 0.1, schema 7, by their former keys."""

from typing import Any

FORMER_SCHEMA = 7
_SETTINGS = {"code": "product_quantizer"}
_UNUSED_SETTINGS = ("shortest_passage", "longest_passage")  # limits of passages, which no index could choose
_QUANTIZERS = {"compact": "pq"}
_SEGMENT = {"rows": "vectors", "part": "partial"}


def from_former(values: dict[str, Any], schema: int) -> dict[str, Any]:
    """The same manifest by the keys of a later schema; a missing or wrong value raises KeyError or TypeError."""
    settings = _renamed(values["settings"], _SETTINGS)
    for name in _UNUSED_SETTINGS:
        settings.pop(name)
    settings["quantizer"] = _QUANTIZERS.get(settings["quantizer"], settings["quantizer"])
    segments = [_renamed(entry, _SEGMENT) for entry in values["segments"]]
    return {**values, "settings": settings, "segments": segments, "schema_version": schema}


def _renamed(values: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in values.items()}
