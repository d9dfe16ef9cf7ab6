"""Pages that are too slow to parse, and those that are only untidy."""

from pathlib import Path

import pytest

from densephrases.errors import DataError
from densephrases.text.readers.pages.html import html_page
from densephrases.text.readers.pages.html_limits import refuse_slow_page

PATH = Path("a.html")
MANY = 50_000


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("<a " * MANY, "more than 1,000 attributes"),
        ("<p" + "".join(f" x{number}" for number in range(MANY)) + ">", "more than 1,000 attributes"),
        ("<p" + "".join(f" x{number}='>'" for number in range(MANY)) + ">", "more than 1,000 attributes"),
        ('<script><x a="</script><p' + "".join(f" y{number}" for number in range(MANY)), "more than 1,000 attributes"),
        ("<div>" * MANY, "nested too deeply"),
        ("<b x=1><p>" * MANY, "nested too deeply"),
        ("<div><object></div></object>" * MANY, "nested too deeply"),
        ("<div></x>" * MANY, "nested too deeply"),
        ("<svg><style>" + "<g>" * MANY, "nested too deeply"),
        ("<!-- -->" + "<script><!--</script>" + "<div>" * MANY, "nested too deeply"),
        ("<dt><dd>" * 5_000 + "</div>" * MANY, "nested too deeply"),
        ("<p>" * 1_000_001, "more than 1,000,000 tags"),
        ("<!-->" * 1_000_001, "more than 1,000,000 tags"),
    ],
)
def test_slow_pages(source: str, reason: str) -> None:
    with pytest.raises(DataError, match=f"'a.html' has .*{reason}"):
        refuse_slow_page(source, PATH)


@pytest.mark.parametrize(
    "source",
    [
        "<div>" * 5_000,
        "<a " * 5_000,
        "<p>one<p>two" * MANY,
        "<ul><li>one<li>two</ul>" * MANY,
        "<table><tr><td>a<td>b<tr><td>c</table>" * MANY,
        "<div class='a b' id=c data-x=\"1 > 0\"><br><img src=x>text</div>" * MANY,
        "<p>" + "word " * 1_000_000,
        "<img src='data:image/png;base64," + "A" * 5_000_000 + "'>",
        "<script>" + "if (a<b && c>d) { e = '<div>' + f + '</div>'; }\n" * 5_000 + "</script>",
    ],
)
def test_long_and_untidy_pages(source: str) -> None:
    refuse_slow_page(source, PATH)
    text = html_page(source).text
    assert "</" not in text
