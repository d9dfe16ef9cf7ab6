"""Titles of Markdown."""

import pytest

from densephrases.text.readers.markdown import markdown_title


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
        ("# " + "\t" * 60_000 + "x\n# Short", "Short"),
        ("---\ntitle: " + " " * 60_000 + "\n---\n# Heading", "Heading"),
        ("\n" * 100_000 + "# Too far down", ""),
        ("", ""),
    ],
)
def test_markdown_titles(text: str, title: str) -> None:
    assert markdown_title(text) == title
