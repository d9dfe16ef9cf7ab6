"""The built site: no page loads anything from another host, and references are complete."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import densephrases

from ..doc_commands import every_command

ROOT = Path(__file__).parents[2]
LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}
NAMES_NO_FILE = {"canonical", "prev", "next", "alternate", "author"}
NOT_IN_THE_REFERENCE = {"__version__"}

pytestmark = pytest.mark.docs


@pytest.fixture
def site() -> Path:
    """As `make docs` has just built it, with warnings as errors."""
    folder = ROOT / "site"
    if not folder.is_dir():
        pytest.skip("The site is not built; `make docs` builds it first.")
    return folder


class Loaded(HTMLParser):
    """Addresses that a browser fetches to show a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.styles = False
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        values = dict(attrs)
        self.styles = tag == "style"
        if tag in LOADING and (address := values.get(LOADING[tag])) and values.get("rel") not in NAMES_NO_FILE:
            self.addresses.append(address)

    def handle_data(self, data: str) -> None:
        if self.styles:
            self.addresses += in_style(data)


def in_style(text: str) -> Iterator[str]:
    for address in re.findall(r"(?:url\(|@import )[\"']?([^\"')]+)", text):
        if not address.startswith("data:"):
            yield address


def is_foreign(address: str) -> bool:
    return address.startswith(("http:", "https:", "//"))


def test_nothing_is_loaded_from_other_hosts(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        assert [address for address in Loaded(page).addresses if is_foreign(address)] == [], page.name
    for style in site.rglob("*.css"):
        assert [address for address in in_style(style.read_text()) if is_foreign(address)] == [], style.name


def test_foreign_addresses_are_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<script src="https://x.org/a.js"></script><style>@import "//y.org/b.css"</style>')
    assert list(filter(is_foreign, Loaded(page).addresses)) == ["https://x.org/a.js", "//y.org/b.css"]


def test_every_command_has_a_section(site: Path) -> None:
    text = (site / "commands.html").read_text(encoding="utf-8")
    for words in every_command():
        assert f'id="{"-".join(words)}"' in text, words


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    text = (site / "api.html").read_text(encoding="utf-8")
    assert {name for name in densephrases.__all__ if f'id="densephrases.{name}"' not in text} == NOT_IN_THE_REFERENCE


def test_the_log_is_last_and_code_is_no_page(site: Path) -> None:
    assert (site / "log.html").is_file()
    assert list(site.rglob("*.py")) == []
