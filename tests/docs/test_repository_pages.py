"""Links of pages, as the site needs them, and the navigation while pages are to come."""

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.docs


@pytest.fixture(scope="module")
def hook() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs" / "hooks" / "repository_pages.py"))


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("search.md", "[x](files.md#ids)", "[x](files.md#ids)"),
        ("search.md", "[x](../SECURITY.md)", "[x](SECURITY.md)"),
        ("examples/table.md", "[x](../slot-filling.md#measuring)", "[x](../slot-filling.md#measuring)"),
        ("CONTRIBUTING.md", "[the tree](docs/layout.md)", "[the tree](layout.md)"),
        ("recipes/questions/README.md", "[x](../../docs/questions.md)", "[x](../../questions.md)"),
        ("SECURITY.md", "the [unit](deploy/densephrases.service)", "the unit"),
        ("search.md", "[x](https://example.org/a.md)", "[x](https://example.org/a.md)"),
    ],
)
def test_links(hook: dict[str, Any], page: str, link: str, expected: str) -> None:
    assert hook["relinked"](link, page, ROOT) == expected
