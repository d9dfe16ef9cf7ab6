"""The bundled articles are what their README says, and answer the questions that come with them."""

import gzip
import re
from importlib import resources

import pytest

from densephrases.sample import SAMPLE_QUESTIONS, SampleQuestion, articles_path
from densephrases.text.documents import Document
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.read import read_documents

TOPICS = {"science", "animals", "geography", "history", "people", "technology", "food", "sports", "arts"}


@pytest.fixture(scope="module")
def articles() -> list[Document]:
    return list(read_documents([articles_path()], strict=True))


@pytest.fixture(scope="module")
def readme() -> str:
    return (resources.files("densephrases.sample") / "README.md").read_text(encoding="utf-8")


def test_every_record_is_a_document() -> None:
    report = ReadReport()
    assert len(list(read_documents([articles_path()], report=report))) == report.documents
    assert (report.skipped, report.empty) == (0, 0)


def test_sizes(articles: list[Document]) -> None:
    assert 45 <= len(articles) <= 60
    assert all(3_000 <= len(article.text) <= 40_000 for article in articles)
    assert 800_000 <= sum(len(article.text.encode()) for article in articles) <= 1_500_000
    assert articles_path().stat().st_size < 1_000_000


def test_ids_and_titles_are_unique(articles: list[Document]) -> None:
    assert len({article.id for article in articles}) == len(articles)
    assert len({article.title for article in articles}) == len(articles)


def test_metadata(articles: list[Document]) -> None:
    assert {article.metadata["topic"] for article in articles} == TOPICS
    for article in articles:
        host = "simple" if article.id.startswith("simplewiki2021-") else "en"
        assert article.metadata["source"].startswith("Simple English" if host == "simple" else "English")
        assert article.metadata["url"].startswith(f"https://{host}.wikipedia.org/wiki/")


def test_text_has_no_remains_of_markup(articles: list[Document]) -> None:
    for article in articles:
        assert not re.search(r"[{}|]|\[\[|\[ \[|formula_|https?:|  |\n{3}|\(\)", article.text), article.title
        assert article.text == article.text.strip()


def test_readme_names_every_article(articles: list[Document], readme: str) -> None:
    listed = re.findall(r"^- (.+?)(?: \(Simple English\))?: <(.+)>$", readme, flags=re.MULTILINE)
    assert listed == [(article.title, article.metadata["url"]) for article in articles]
    assert readme.count("(Simple English):") == sum("simple" in article.id for article in articles)
    assert "https://creativecommons.org/licenses/by-sa/3.0/" in readme


def test_questions() -> None:
    assert 20 <= len(SAMPLE_QUESTIONS) <= 30
    assert len({question.title for question in SAMPLE_QUESTIONS}) == len(SAMPLE_QUESTIONS)


@pytest.mark.parametrize("question", SAMPLE_QUESTIONS, ids=lambda question: str(question.title))
def test_answers_are_phrases_of_the_article(question: SampleQuestion, articles: list[Document]) -> None:
    text = next(article.text for article in articles if article.title == question.title)
    assert question.question.endswith("?")
    assert question.question not in text
    assert question.answers
    for answer in question.answers:
        assert re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text), answer


def test_gzip_is_reproducible() -> None:
    header = articles_path().read_bytes()[:10]
    assert header[3] == 0  # no name of a file
    assert header[4:8] == bytes(4)  # no time
    assert gzip.decompress(articles_path().read_bytes()).endswith(b"}\n")
