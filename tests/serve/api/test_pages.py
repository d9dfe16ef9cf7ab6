"""Pages of PDF files as pictures, with the place of an answer on them."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from densephrases.errors import ConfigError
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.keys import Keys
from densephrases.serve.settings import ServiceSettings
from densephrases.text.documents import Document
from densephrases.text.layout import Layout
from densephrases.text.readers.read import read_documents
from tests.index.made_up import HashEncoder
from tests.serve.running import CITIES, READING, Running, bearer, is_problem, running
from tests.text.readers.pages.made_up_pdf import make_pdf

pytest.importorskip("pypdfium2")

PAGES = ["The tower is in Paris.", "The river is in London."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("files")
    (made / "docs").mkdir()
    (made / "docs" / "a.pdf").write_bytes(make_pdf(*PAGES, title="Cities"))
    (made / "docs" / "notes.txt").write_text("Oslo is a city.")
    (made / "secret.pdf").write_bytes(make_pdf("A secret."))
    (made / "docs" / "link.pdf").symlink_to(made / "secret.pdf")
    return made


@pytest.fixture(scope="module")
def index(folder: Path) -> PhraseIndex:
    known = Layout(pages=(0,))
    elsewhere = [
        Document(name, "A secret.", layout=known) for name in ("../secret.pdf", "link.pdf", "gone.pdf", "a\0.pdf")
    ]
    elsewhere.append(Document("moved", "A secret.", "", {"path": "../secret.pdf"}, layout=known))
    documents = [*read_documents([folder / "docs"]), *elsewhere, *CITIES]
    return PhraseIndex.create(folder / "index", documents, model=HashEncoder())


@pytest.fixture(scope="module")
def shown(index: PhraseIndex, folder: Path) -> Iterator[Running]:
    with running(index, pages=folder / "docs") as service:
        yield service


def test_answers_have_their_page(shown: Running) -> None:
    found = shown.ask("where is the river?", k=20, documents=["a.pdf"]).json["results"][0]["answers"]
    assert {answer["page"] for answer in found} == {1, 2}
    for answer in found:
        assert answer["text"].split()[0] in PAGES[answer["page"] - 1]
    assert {each["page"] for each in shown.ask(k=3, documents=["tower"]).json["results"][0]["answers"]} == {None}


def test_the_box_of_an_answer(shown: Running) -> None:
    text = shown.call("GET", "/v1/documents/a.pdf").json["text"]
    start = text.index("London")
    document = shown.call("GET", f"/v1/documents/a.pdf?start={start}&end={start + 6}").json
    assert (document["page"], document["shown"]) == (2, True)
    page = shown.call("GET", f"/v1/pages/a.pdf?start={start}&end={start + 6}").json
    (box,) = page.pop("boxes")
    assert page == {"page": 2, "pages": 2}
    assert 0.2 < box["left"] < box["right"] < 0.6
    assert 0.05 < box["top"] < box["bottom"] < 0.2
    for query in ("", "start=3", "start=4&end=3", "start=0&end=1000", "start=-1&end=1"):
        assert is_problem(shown.call("GET", f"/v1/pages/a.pdf?{query}"), 422, "invalid")


def test_pictures(shown: Running) -> None:
    from PIL import Image

    reply = shown.call("GET", "/v1/page-images/a.pdf?page=2&width=300")
    assert reply.headers["content-type"] == "image/png"
    assert Image.open(BytesIO(reply.body)).size == (300, 400)
    for query in ("page=0", "page=x", "page=1&width=99", "page=1&width=2001", "width=500"):
        assert is_problem(shown.call("GET", f"/v1/page-images/a.pdf?{query}"), 422, "invalid")
    assert is_problem(shown.call("GET", "/v1/page-images/a.pdf?page=3"), 404, "no_page")


@pytest.mark.parametrize("name", ["..%2Fsecret.pdf", "link.pdf", "gone.pdf", "a%00.pdf", "moved", "tower", "notes.txt"])
def test_only_indexed_pdf_files_below_the_folder_are_shown(shown: Running, name: str) -> None:
    assert is_problem(shown.call("GET", f"/v1/page-images/{name}?page=1"), 404, "no_page")
    assert is_problem(shown.call("GET", f"/v1/pages/{name}?start=0&end=1"), 404, "no_page")
    assert shown.call("GET", f"/v1/documents/{name}").json["shown"] is False


def test_files_that_are_not_indexed_are_unknown(shown: Running) -> None:
    assert is_problem(shown.call("GET", "/v1/page-images/secret.pdf?page=1"), 404, "unknown_document")


def test_nothing_is_shown_unless_a_folder_is_given(index: PhraseIndex, keys: Keys, folder: Path) -> None:
    with running(index) as service:
        assert is_problem(service.call("GET", "/v1/page-images/a.pdf?page=1"), 404, "no_page")
    with running(index, keys=keys, pages=folder / "docs") as service:
        assert is_problem(service.call("GET", "/v1/page-images/a.pdf?page=1"), 401, "unauthorized")
        assert service.call("GET", "/v1/page-images/a.pdf?page=1", headers=bearer(READING)).status == 200


def test_a_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(make_pdf(*PAGES))
    index = PhraseIndex.create(tmp_path / "index", read_documents([tmp_path / "a.pdf"]), model=HashEncoder())
    (tmp_path / "a.pdf").write_bytes(make_pdf("Another text.", "On two pages."))
    with running(index, pages=tmp_path) as service:
        assert service.call("GET", "/v1/pages/a.pdf?start=0&end=3").json["boxes"] == []
        (tmp_path / "a.pdf").write_bytes(b"no PDF")
        assert is_problem(service.call("GET", "/v1/page-images/a.pdf?page=1"), 404, "no_page")
        (tmp_path / "a.pdf").unlink()
        assert is_problem(service.call("GET", "/v1/pages/a.pdf?start=0&end=3"), 404, "no_page")


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no folder"):
        ServiceSettings(index=tmp_path, pages=tmp_path / "none")
