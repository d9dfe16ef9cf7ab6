"""docs/dependencies.md lists every package that an installation may bring."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def declared() -> dict[str, set[str]]:
    """Extras by package; the empty set is the core."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found: dict[str, set[str]] = {name_of(each): set() for each in project["dependencies"]}
    for extra, requirements in project["optional-dependencies"].items():
        for each in requirements:
            if extra != "dev" and not each.startswith("densephrases["):
                found.setdefault(name_of(each), set()).add(extra)
    return found


def name_of(requirement: str) -> str:
    match = re.match(r"[\w.-]+", requirement)
    assert match is not None
    return match[0]


def test_every_dependency_is_listed_with_its_licence_and_extras() -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text()
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    listed = {name: {each for each in extras.split(", ") if each} for name, _, extras, _ in rows[1:]}
    assert listed == declared()
    assert all(licence and purpose for _, licence, _, purpose in rows[1:])
