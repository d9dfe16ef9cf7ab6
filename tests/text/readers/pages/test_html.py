"""Titles and text of HTML pages, well-formed or not."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.readers.pages.html import decode_html, html_page


def html_text(source: str) -> tuple[str, str]:
    title, text, _ = html_page(source)
    return title, text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>One<p>Two", "One\n\nTwo"),
        ("<h1>Head</h1>text <b>bold</b>, <i>it</i>alic", "Head\n\ntext bold, italic"),
        ("<div><div><p> a\n  b\t</p></div></div>\n<div>c</div>", "a b\n\nc"),
        ("before<script>if (a < b) {}</script><style>p {}</style>after", "beforeafter"),
        ("<nav>menu<nav>inner</nav>menu</nav><p>text", "text"),
        ("x<noscript>no</noscript><template><p>t</p></template><svg><title>s</title></svg>y", "xy"),
        ("<ul><li>one<li>two</ul>end", "one\n\ntwo\n\nend"),
        ("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "a: 1; b: 2."),
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
    assert html_text(source)[1] == text


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
    assert html_text(source) == ("Head", ARTICLE_TEXT)


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
    assert html_text(source)[1] == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<dl><dt>port<dd>Where it listens.<dt>host<dd>Its name.</dl>", "port: Where it listens.\n\nhost: Its name."),
        ("<dl><dt>-s<dt>--sign<dd><p>Signs it.</p><p>Later too.</dl>x", "-s, --sign: Signs it.\n\nLater too.\n\nx"),
        ("<dl><dt>Why?<dd>So.<dd>Or not.</dl>", "Why? So.\n\nOr not."),
        ("<dl><div><dt>a:</dt><dd>b</dd></div></dl>", "a: b"),
        ("<dl><dt>a<dd>b<dl><dt>c<dd>d</dl>e</dl>", "a: b\n\nc: d\n\ne"),
        ("<dl><dt>code<dd><pre>x\ny</pre></dl>", "code\n\nx\ny"),
        ("<dl><dt>alone</dl><p>x", "alone\n\nx"),
        (f"<dl><dt>{'a' * 200}<dt>b<dt>c<dd>d</dl>", f"{'a' * 200}\n\nb, c: d"),
        ("<pre>code\n</pre>after", "code\n\nafter"),
        ("<dd>no list</dd><dt>none", "no list\n\nnone"),
    ],
)
def test_terms_stay_with_their_definitions(source: str, text: str) -> None:
    assert html_text(source)[1] == text


def test_headings_are_told_from_text_and_long_definitions_have_their_term() -> None:
    words = "word " * 100
    source = (
        f"<h1>One<a class=headerlink>¶</a></h1>a<h3>Note</h3>b<dl><dt>port<dd>{words}<p>c</dl>d<h2>Two <i>it</i></h2>e"
    )
    _, text, layout = html_page(source)
    assert [text[each.start : each.end] for each in layout.sections if each.name] == ["One", "port", "Two it"]
    assert [layout.path(text.rindex(word)) for word in "abcde"] == [
        ["One"],
        ["One"],
        ["One", "port"],
        ["One"],
        ["One", "Two it"],
    ]
    assert "¶" not in text


@pytest.mark.parametrize(
    "menu",
    [
        "<div class='navheader'><a href=x>Prev</a> Chapter 2</div>",
        "<div id=toc><h2>Contents</h2><a href=#a>A</a></div>",
        "<ul><li><a href=#a>One</a><li><a href=#b>Two</a></ul>",
        "<div class='menu top'>Home</div>",
        "<p>A site</p>",
        "<h1>x<a href=#x>#</a><span class=permalink>link</span></h1>",
    ],
)
def test_what_is_no_content_is_left_out(menu: str) -> None:
    heading = "" if "<h1>" in menu else "<h1>x</h1>"
    assert html_text(f"{menu}{heading}<p>Some text that is content.")[1] == "x\n\nSome text that is content."


def test_only_the_main_part_is_read() -> None:
    source = "<div>Site</div><div role=main><h1>x</h1>text</div><div>imprint</div>"
    assert html_text(source) == ("x", "x\n\ntext")
    assert html_text("<div class=sidebar><h1>x</h1>all of it</div>")[1] == "x\n\nall of it"


def test_tables_in_tables_lay_out_the_page() -> None:
    inner = "<table><tr><th>a<th>b<tr><td>1<td>2</table>"
    assert html_text(f"<table><tr><td>Menu<td>{inner}<p>text</table>end")[1] == "Menu\n\na: 1; b: 2.\n\ntext\n\nend"
    assert html_text("<table><tr><td>" * 3000 + "deep")[1] == "deep"


def test_a_table_with_headings_lays_out_the_page() -> None:
    _, text, layout = html_page("<table><tr><td>left<td><h1>Head</h1>text</table>")
    assert text == "left\n\nHead\n\ntext"
    assert [text[each.start : each.end] for each in layout.sections] == ["Head"]


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


TAGS = st.sampled_from(["h1", "h2", "p", "dl", "dt", "dd", "table", "thead", "tr", "td", "th", "pre", "ul", "li", "a"])
PIECES = st.one_of(TAGS.map("<{}>".format), TAGS.map("</{}>".format), st.sampled_from(["a", "b c", " ", "1.\n", "¶"]))


@given(st.lists(PIECES, max_size=40).map("".join))
def test_sections_are_in_the_text_in_order(source: str) -> None:
    _, text, layout = html_page(source)
    places = [place for section in layout.sections for place in (section.start, section.end) if section.name]
    assert places == sorted(places)
    assert all(" ".join(text[each.start : each.end].split()) == each.name for each in layout.sections if each.name)


@given(st.text())
def test_no_page_is_too_odd(source: str) -> None:
    assert all(part is not None for part in html_text(source))
