"""Titles and text of HTML pages, well-formed or not."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.readers.html import decode_html, html_text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>One<p>Two", "One\n\nTwo"),
        ("<h1>Head</h1>text <b>bold</b>, <i>it</i>alic", "Head\n\ntext bold, italic"),
        ("<div><div><p> a\n  b\t</p></div></div>\n<div>c</div>", "a b\n\nc"),
        ("before<script>if (a < b) {}</script><style>p {}</style>after", "beforeafter"),
        ("<nav>menu<nav>inner</nav>menu</nav><p>text", "text"),
        ("x<noscript>no</noscript><template><p>t</p></template><svg><title>s</title></svg>y", "xy"),
        ("<ul><li>one<li>two</ul>end", "one\ntwo\n\nend"),
        ("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "a b\n1 2"),
        ("one<br>two<br/>three<hr>four", "one\ntwo\nthree\n\nfour"),
        ("<pre>  def f():\n\n      x</pre><p>y", "  def f():\n\n      x\n\ny"),
        ("5&nbsp;km &lt;b&gt; &eacute; &#x4e2d;", "5\u00a0km <b> é 中"),
        ("<!-- comment --><!doctype html>a", "a"),
        ("a < b", "a < b"),
        ("</p></nav></pre>odd", "odd"),
        ("<ol><li>one<ol><li>inner</ol><li>two</ol>", "one\n\ninner\n\ntwo"),
        ("<p>one<div>two</p>three</div>four", "one\n\ntwo\n\nthree\n\nfour"),
        ("<b><p>bold</b> and not</p><td>cell</table>end", "bold and not\n\ncellend"),
        ("<head><style>p {}</style><h1>No body</h1><p>text", "No body\n\ntext"),
        ("<html><p>after the end</p></html>late", "after the end\n\nlate"),
        ("<button>Buy<div>x</div></button><select><option>a</select>y", "y"),
        ("<div role=navigation>menu</div><form role=search>find</form><div role=contentinfo>c</div>y", "y"),
        ("", ""),
        ("<html><head></head><body>  </body></html>", ""),
    ],
)
def test_html(source: str, text: str) -> None:
    assert html_text(source) == ("", text)


MENU = "<ul><li><a href=a>Home</a><li><a href=b>About us</a></ul>"
ARTICLE = "<h1>Head</h1><p>First <a href=c>link</a> of all.<p>Second.<ul><li><a href=d>Reference</a></ul>"
ARTICLE_TEXT = "Head\n\nFirst link of all.\n\nSecond.\n\nReference"


@pytest.mark.parametrize(
    "source",
    [
        f"<nav>{MENU}</nav>{ARTICLE}",
        f"<nav>{MENU}{ARTICLE}",
        f"<NAV>{MENU}<main>{ARTICLE}</main>",
        f"<body><nav><nav>{MENU}</nav>{MENU}{ARTICLE}</body>",
        f"<nav><div><nav>{MENU}</div>{ARTICLE}",
        f"<div><nav>{MENU}</div>{ARTICLE}<footer><nav>{MENU}</nav></footer>",
        f"<nav>{MENU}</nav><article>{ARTICLE}</article><nav><a href=e>Next</a>",
        f"<header>{MENU}<main>{ARTICLE}</main>",
        f"<aside>{MENU}<p>{ARTICLE}",
        f"<nav><a href=a>Home</a> | <a href=b>About</a>{ARTICLE}",
    ],
)
def test_menus_are_left_out_and_an_unclosed_one_swallows_nothing(source: str) -> None:
    assert html_text(source) == ("", ARTICLE_TEXT)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<header>Site</header><p>text</p><aside>More</aside><footer>(c)</footer>", "text"),
        ("<header><nav>menu</nav><h1>Head</h1><p>by Ann</header><p>text", "Head\n\nby Ann\n\ntext"),
        ("<main><header>Head</header>text<footer>note</footer><aside>more</aside></main>", "Head\n\ntext\n\nnote"),
        ("<article><header>Head</header>text<aside>note</aside></article>", "Head\n\ntext\n\nnote"),
        ("<blockquote>said<footer>Ann</footer></blockquote>", "said\n\nAnn"),
    ],
)
def test_headers_and_footers_of_the_page_but_not_of_its_content_are_left_out(source: str, text: str) -> None:
    assert html_text(source) == ("", text)


def test_a_long_page() -> None:
    paragraph = "<p>One <b>bold</b> word &amp; more.</p>"
    count = 5_000_000 // len(paragraph)
    assert html_text(paragraph * count)[1] == "\n\n".join(["One bold word & more."] * count)


def test_deep_nesting() -> None:
    assert html_text("<div>" * 5000 + "deep" + "<header>" * 5000 + "<h1>head")[1] == "deep\n\nhead"


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("", "utf-8"),
        ("", "utf-8-sig"),
        ('<meta charset="utf-8">', "utf-8"),
        ("<META CHARSET=windows-1252>", "cp1252"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">', "cp1252"),
        ("<meta charset='shift_jis'>", "shift_jis"),
        ("<?xml version='1.0' encoding='ISO-8859-15'?>", "iso8859-15"),
        ("<meta charset=unheard-of>", "utf-8"),
        ("<meta charset=utf-16>", "utf-8"),
        ("<meta charset=zlib>", "utf-8"),
        ("<meta charset=unicode_escape>", "utf-8"),
        ("<meta charset=idna>", "utf-8"),
    ],
)
def test_encodings(head: str, encoding: str) -> None:
    text = "日本" if encoding == "shift_jis" else "Zürich: 5 €"
    assert decode_html(f"{head}<p>{text}".encode(encoding)) == f"{head}<p>{text}"


def test_a_page_without_a_true_declaration() -> None:
    for head in ("", "<meta charset=utf-8>", "<meta charset=unheard-of>"):
        for encoding in ("cp1252", "utf-16", "utf-16-le"):
            assert decode_html(f"{head}<p>Zürich: 5 €".encode(encoding)) == f"{head}<p>Zürich: 5 €"


def test_html_title() -> None:
    source = "<html><head><title> A &amp;\n B </title><meta charset=utf-8></head><body><p>x</p></body></html>"
    assert html_text(source) == ("A & B", "x")


WORDS = st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8), min_size=1, max_size=4)


@given(st.lists(st.tuples(st.sampled_from(["p", "div", "h2", "section", "blockquote"]), WORDS), max_size=6))
def test_blocks_stay_apart(blocks: list[tuple[str, list[str]]]) -> None:
    source = "\n".join(f"<{tag}>\n{html.escape('  '.join(words))}</{tag}>" for tag, words in blocks)
    assert html_text(source)[1].split("\n\n") == [" ".join(words) for _, words in blocks] or not blocks


@given(st.text())
def test_no_page_is_too_odd(source: str) -> None:
    assert all(part is not None for part in html_text(source))
