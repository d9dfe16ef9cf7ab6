"""Public names, commands, arguments and options change on purpose only: others build on them."""

from difflib import unified_diff

import pytest

from .frozen.__main__ import FILES, FOLDER


@pytest.mark.parametrize("name", FILES)
def test_nothing_public_changed(name: str) -> None:
    written, now = (FOLDER / name).read_text().splitlines(), FILES[name]()
    changes = "\n".join(unified_diff(written, now, f"tests/frozen/{name}", "now", n=0, lineterm=""))
    assert not changes, (
        f"What others build on has changed:\n{changes}\n\n"
        "If that is meant, write it down with `make frozen` (python -m tests.frozen), commit tests/frozen and name the "
        "change in CHANGELOG.md; a removed or renamed name needs a new minor version."
    )
