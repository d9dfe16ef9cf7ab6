"""A bill of materials of the environment that runs this script, in CycloneDX 1.6, and its licences as a table.

python release/sbom.py [--root densephrases] [--extra serve]... [--out dist] [--table]

It lists the package and what it requires, directly or not, as installed: name, version, licence and package URL.
"""

import argparse
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_LONGEST = 60  # characters of a licence's name; longer ones are its text


@dataclass(frozen=True)
class Component:
    """An installed package and the packages that it requires."""

    name: str
    version: str
    licence: str
    requires: tuple[str, ...]

    @property
    def url(self) -> str:
        return f"pkg:pypi/{canonicalize_name(self.name)}@{self.version}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a bill of materials of what is installed.")
    parser.add_argument("--root", default="densephrases", help="the package to begin with")
    parser.add_argument("--extra", action="append", default=[], help="an extra of it; may be repeated")
    parser.add_argument("--out", type=Path, default=Path("dist"), help="folder to write to")
    parser.add_argument("--table", action="store_true", help="print a table of licences instead")
    given = parser.parse_args()
    found = components(given.root, given.extra)
    if given.table:
        print("\n".join(table(found)))
        return
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / f"{given.root}-{found[0].version}.cdx.json"
    path.write_text(json.dumps(bill(found), indent=1) + "\n")
    print(f"{path}: {len(found)} packages")


def components(root: str, extras: Iterable[str]) -> list[Component]:
    """The package first, then what it requires, by name; what is not installed is left out."""
    first = component(root, tuple(extras))
    found, waiting = {canonicalize_name(root): first}, list(required(root, tuple(extras)))
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name not in found and installed(name):
            found[name] = component(name, tuple(requirement.extras))
            waiting += required(name, tuple(requirement.extras))
    return [first, *(found[name] for name in sorted(found.keys() - {canonicalize_name(root)}))]


def installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def required(name: str, extras: tuple[str, ...]) -> Iterator[Requirement]:
    """Of this platform and Python, with these extras."""
    for text in metadata.requires(name) or []:
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def component(name: str, extras: tuple[str, ...]) -> Component:
    about = metadata.metadata(name)
    needs = sorted({str(canonicalize_name(each.name)) for each in required(name, extras)})
    return Component(about["Name"], metadata.version(name), licence_of(about), tuple(needs))


def licence_of(about: Any) -> str:
    """By its expression, else by its name, else by its classifiers; the text of a licence is no name."""
    named = str(about.get("License-Expression") or about.get("License") or "").strip()
    if named and len(named) <= _LONGEST and "\n" not in named and named != "UNKNOWN":
        return named
    classified = (str(each) for each in about.get_all("Classifier", []) if str(each).startswith("License ::"))
    names = [re.sub(r"^License :: (OSI Approved :: )?", "", each) for each in classified]
    return " and ".join(names) or (named.partition("\n")[0][:_LONGEST].strip() or "unknown")


def table(found: Iterable[Component]) -> list[str]:
    return ["| package | licence |", "|---|---|", *(f"| {each.name} | {each.licence} |" for each in list(found)[1:])]


def bill(found: list[Component]) -> dict[str, Any]:
    known = {str(canonicalize_name(each.name)): each.url for each in found}
    described = [
        {
            "type": "application" if each is found[0] else "library",
            "bom-ref": each.url,
            "name": each.name,
            "version": each.version,
            "purl": each.url,
            "licenses": [{"license": {"name": each.licence}}],
        }
        for each in found
    ]
    depend = [
        {"ref": each.url, "dependsOn": [known[name] for name in each.requires if name in known]} for each in found
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": described[0]},
        "components": described[1:],
        "dependencies": depend,
    }


if __name__ == "__main__":
    main()
