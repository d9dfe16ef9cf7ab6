"""Titles of Markdown and visible text of HTML."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.readers.html import html_text, markdown_title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# One\n# Two", "One"),
        ("intro\n\n### Third level ###\n", "Third level"),
        ("Under\n=====\n# Later", "Under"),
        ("\r\n# Windows\r\n", "Windows"),
        ("```sh\n# a comment\n```\n# Real", "Real"),
        ("~~~~\n~~~\n# code\n~~~~\n# Real", "Real"),
        ("```\n# never closed", ""),
        ("#hashtag\n    # indented code", ""),
        ('---\ntitle: "Front: matter"\ntags: [a]\n---\n# Heading', "Front: matter"),
        ("---\ntags: [a]\n---\n# Heading", "Heading"),
        ("---\r\ntitle: It's\r\n---\r\n", "It's"),
        ("text only", ""),
        ("", ""),
    ],
)
def test_markdown_titles(text: str, title: str) -> None:
    assert markdown_title(text) == title


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
        ("", ""),
        ("<html><head></head><body>  </body></html>", ""),
    ],
)
def test_html(source: str, text: str) -> None:
    assert html_text(source) == ("", text)


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
