"""The page as files of the service; tests/serve/page/test_assets.py opens it in a browser."""

import re

import pytest

from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.keys import Keys
from densephrases.serve.runtime.middleware import PAGE_POLICY
from tests.serve.running import Running, running


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_the_pages(served: Running, path: str) -> None:
    """All they need is here, nothing in them is inline, and they are asked for again only when they have changed."""
    page = served.call("GET", path)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"] == PAGE_POLICY
    assert "unsafe" not in PAGE_POLICY
    text = page.body.decode()
    assert not re.search(r"<style|style=|<script>|\son\w+=|https?:", text)
    for path, kind in re.findall(r'(?:href|src)="(page/[^"]+\.(\w+))"', text):
        part = served.call("GET", f"/{path}")
        assert part.status == 200
        assert {"css": "text/css", "js": "javascript", "svg": "image/svg+xml"}[kind] in part.headers["content-type"]
        assert part.headers["content-security-policy"] == PAGE_POLICY
        again = served.call("GET", f"/{path}", headers={"If-None-Match": part.headers["etag"]})
        assert again.status == 304


def test_the_page_needs_no_key(index: PhraseIndex, keys: Keys) -> None:
    """It holds nothing of the index, and asks for the key itself."""
    with running(index, keys=keys) as service:
        assert service.call("GET", "/").status == service.call("GET", "/docs").status == 200
