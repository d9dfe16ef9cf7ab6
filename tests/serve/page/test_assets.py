"""The page in a real browser, before a real service."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.keys import Keys
from densephrases.serve.runtime.suggested_questions import SUGGESTIONS_FILE
from densephrases.serve.settings import Limits
from densephrases.text.documents import Document
from densephrases.text.readers.read import read_documents
from tests.serve.browser import MISSING, Page, chromium, is_installed
from tests.serve.running import CITIES, QUESTION, READING, GatedEncoder, ReadingEncoder, Running, TwoTasks, running
from tests.text.readers.pages.made_up_pdf import make_pdf

pytestmark = pytest.mark.skipif(not is_installed(), reason=MISSING)

OTHER = "what was built in the year?"
EVIL = "<img src=x onerror='window.hacked = 1'><script>window.hacked = 1</script><b>the city</b>"
LONG = "The river 😀 is in a city. " * 400
UNBROKEN = "paris" * 80


def encoder(*, intercept: float = 4.0, kind: type[GatedEncoder] = GatedEncoder) -> GatedEncoder:
    """Whose answers all have the same confidence."""
    made = kind()
    weights = {"intercept": intercept, "score": 0.0, "gap": 0.0, "share": 0.0, "temperature": 1.0}
    made.config = made.config.with_confidence(weights)
    return made


def made_index(
    folder: Path, documents: list[Document], examples: str = f"{QUESTION}\n{OTHER}", **how: Any
) -> PhraseIndex:
    index = PhraseIndex.create(folder / "index", documents, model=encoder(**how))
    (index.folder.folder / SUGGESTIONS_FILE).write_text(examples)
    return index


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def cities(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(made_index(tmp_path_factory.mktemp("cities"), CITIES)) as service:
        yield service


@pytest.fixture
def at(browser: Any) -> Iterator[Any]:
    """Opens the page of a service; whatever a test does, nothing may be wrong with the page itself."""
    pages = []

    def page(service: Running, fragment: str = "") -> Page:
        opened = Page(browser, f"http://127.0.0.1:{service.port}")
        opened.look()
        opened.open(fragment)
        pages.append(opened)
        return opened

    yield page
    assert pages[-1].complaints() == []


def first_answer(service: Running, question: str = QUESTION, **terms: Any) -> Any:
    return service.ask(question, **terms).json["results"][0]["answers"][0]


def test_a_question(cities: Running, at: Any) -> None:
    page = at(cities)
    page.ask(QUESTION)
    page.one(".answer")
    found = first_answer(cities)
    assert page.texts(".first .headline")[0] == page.texts(".first mark")[0] == found["phrase"]["text"]
    assert page.texts(".first .text")[0] == found["sentence"]
    assert page.texts(".first .title")[0] == found["document"]["title"]
    assert page.texts(".first .confidence")[0] == "98% sure"
    assert page.run("return document.querySelector('.fill').style.inlineSize") == "98%"
    assert page.texts("#size")[0].startswith("3 documents · ")
    assert re.fullmatch(r"Answered in [\d.]+ ms", page.texts("#latency")[0])
    assert page.fragment == f"#q={QUESTION}"
    page.wait_for_text(
        "#announcement", f"Best: {found['phrase']['text']}, from {found['document']['title']}, 98% sure."
    )


def test_answers_are_different_places(cities: Running, at: Any) -> None:
    page = at(cities, f"#q={QUESTION}")
    page.one(".answer")
    places = page.run("return [...document.querySelectorAll('.show')].map(a => a.hash)")
    assert 1 < len(places) == len(set(places)) <= 5


@pytest.mark.parametrize("unit", ["sentence", "passage", "document"])
def test_units(cities: Running, at: Any, unit: str) -> None:
    page = at(cities, f"#q={QUESTION}")
    page.one(".answer")
    page.one(f"input[value={unit}] + span").click()
    found = first_answer(cities, unit=unit)
    page.wait_for_text(".first .text", found["sentence" if unit == "sentence" else "passage"])
    assert f"unit={unit}" in page.fragment
    assert page.texts(".first mark")[0] == found["phrase"]["text"]
    page.browser.back()
    page.wait(lambda: page.texts(".first p.headline"), "phrases again")
    assert page.run("return document.querySelector('[name=unit]:checked').value") == "auto"


def test_verification_is_offered_by_models_that_read(cities: Running, tmp_path: Path, at: Any) -> None:
    index = made_index(tmp_path, CITIES, kind=ReadingEncoder)
    with running(index) as service:
        page = at(service, f"#q={QUESTION}")
        page.one(".answer")
        assert page.run("return document.getElementById('verifying').hidden") is False
        page.one("#verify").click()
        found = first_answer(service, verify=3)
        page.wait_for_text(".first .text", found["sentence"])
        page.wait(lambda: "verified" in page.texts(".first .source")[0], "the mark of verified answers")
        assert "verify=1" in page.fragment
    page = at(cities, f"#q={QUESTION}&verify=1")
    page.one(".answer")
    assert page.run("return document.getElementById('verifying').hidden") is True


def test_the_whole_document(tmp_path: Path, at: Any) -> None:
    with running(made_index(tmp_path, [Document("long/river", LONG, "River")])) as service:
        page = at(service, f"#q={QUESTION}&unit=passage")
        page.one(".answer")
        wanted = page.all(".show")[-1]
        phrase = page.texts(".answer:last-child mark")[0]
        wanted.click()
        page.wait(lambda: page.texts("#document-text mark"), "the document")
        assert page.texts("#document-text")[0] == LONG
        assert page.texts("#document-text mark")[0] == phrase
        assert page.texts("#document-title")[0] == "River"
        assert in_sight(page)
        shared = page.browser.current_url
        page.press("ESCAPE")
        page.wait(lambda: not page.run("return document.getElementById('document').open"), "closing")
        assert "document=" not in page.fragment
        assert page.focused.startswith("Show in document")
        page.browser.forward()
        page.wait(lambda: page.texts("#document-text mark"), "the document again")
        page.open(shared.partition("/")[2].partition("/")[2].partition("/")[2])
        page.wait(lambda: page.texts("#document-text mark"), "the shared document")
        assert in_sight(page)
        page.one("#close").click()
        page.one(".answer")
        assert "document=" not in page.fragment


def in_sight(page: Page) -> bool:
    script = """const [mark, text] = ['#document-text mark', '#document-text'].map(s =>
        document.querySelector(s).getBoundingClientRect());
        return mark.top >= text.top && mark.bottom <= text.bottom"""
    return bool(page.run(script))


def test_a_document_that_is_gone(cities: Running, at: Any) -> None:
    page = at(cities, "#document=rome")
    page.wait_for_text("#document-text", "It is no longer in the index.")
    assert page.texts("#document-title") == ["The document cannot be shown"]
    assert page.texts("#document-text mark") == []


def test_the_back_button(cities: Running, at: Any) -> None:
    page = at(cities)
    for question in (QUESTION, OTHER):
        page.ask(question)
        page.press("ENTER")
        page.wait_for_text(".first .text", first_answer(cities, question)["sentence"])
    page.browser.back()
    page.wait_for_text(".first .text", first_answer(cities)["sentence"])
    assert page.one("#question").get_attribute("value") == QUESTION


def test_a_late_answer_is_no_answer(tmp_path: Path, at: Any) -> None:
    index = made_index(tmp_path, CITIES)
    gate = index.encoder
    assert isinstance(gate, GatedEncoder)
    with running(index) as service:
        page = at(service)
        page.one("#question")
        shown = "new MutationObserver(() => window.seen.push(document.querySelector('.first .text')?.textContent))"
        page.run(f"window.seen = []; {shown}.observe(document.querySelector('#results'), {{childList: true}})")
        gate.gate.clear()
        gate.reached.clear()
        page.ask(QUESTION)
        gate.reached.wait()
        page.one(".progress.active")  # slow
        page.ask(OTHER)
        gate.gate.set()
        expected = first_answer(service, OTHER)["sentence"]
        page.wait_for_text(".first .text", expected)
        assert {text for text in page.run("return window.seen") if text} == {expected}
        assert not page.all(".progress.active")


def test_the_service_is_gone_and_comes_back(tmp_path: Path, at: Any) -> None:
    index = made_index(tmp_path, CITIES)
    with running(index) as service:
        page = at(service)
        page.one("#question")
        page.wait(lambda: page.texts("#size")[0], "the index")
    page.ask(QUESTION)
    page.wait_for_text("#notice h2", "The service cannot be reached")
    page.wait_for_text("#announcement", "The service cannot be reached")
    assert page.texts("#countdown")[0].endswith(("second", "seconds"))
    with running(index, port=service.port):
        page.one(".answer")
        assert not page.one("#question").get_attribute("aria-invalid")
        assert not page.texts("#notice h2")


def test_a_busy_service(tmp_path: Path, at: Any) -> None:
    index = made_index(tmp_path, CITIES)
    gate = index.encoder
    assert isinstance(gate, GatedEncoder)
    with running(index, deadline_seconds=1.0) as service:
        page = at(service)
        page.wait(lambda: page.texts("#size")[0], "the index")
        gate.gate.clear()
        page.ask(QUESTION)
        page.wait_for_text("#notice h2", "The service is busy")
        gate.gate.set()
        page.one("#notice button").click()
        page.one(".answer")
        assert page.texts("#notice h2") == []


def test_a_question_that_is_too_long(tmp_path: Path, at: Any) -> None:
    with running(made_index(tmp_path, CITIES), limits=Limits(question_characters=30, k=2)) as service:
        page = at(service)
        page.ask("where is the river 😀 of it all?")
        page.wait_for_text("#notice", "It has 31 characters; the service takes at most 30.")
        assert page.texts("#notice h2") == ["This question is too long"]
        assert page.all(".answer") == []
        page.press("BACKSPACE")
        page.one(".answer")
        assert page.texts("#notice h2") == []


def test_a_refusal_in_the_words_of_the_service(cities: Running, at: Any) -> None:
    page = at(cities, f"#q={QUESTION}&document=tower&start=999999&end=9999999")
    page.wait_for_text("#document-text", "are no span of the text")
    assert page.texts("#document-title") == ["The document cannot be shown"]
    assert page.texts("#document-text mark") == []


def test_no_confident_answer(tmp_path: Path, at: Any) -> None:
    with running(made_index(tmp_path, CITIES, intercept=-5.0)) as service:
        page = at(service, f"#q={QUESTION}")
        page.wait_for_text("#notice h2", "No confident answer")
        page.wait_for_text("#announcement", "No confident answer; the nearest is ")
        assert page.texts(".doubtful .confidence")[0] == "1% sure"
        assert page.texts(".headline") == []


def test_an_empty_index(tmp_path: Path, at: Any) -> None:
    with running(made_index(tmp_path, [])) as service:
        page = at(service)
        page.wait_for_text("#notice", "This index holds no documents.")
        assert page.texts("#notice h2") == ["There is nothing to ask yet"]
        assert page.texts("#size")[0].startswith("0 documents · ")
        assert page.all(".examples") == []


def test_not_sure(tmp_path: Path, at: Any) -> None:
    with running(made_index(tmp_path, CITIES, intercept=0.0)) as service:
        page = at(service, f"#q={QUESTION}")
        page.wait_for_text("#notice", "The first answer is right with a probability of about 50%.")
        assert page.texts("#notice h2") == ["Not sure"]
        assert page.texts(".first .headline"), "it is an answer all the same"


def test_answers_that_are_hardly_ever_right_are_folded(tmp_path: Path, at: Any) -> None:
    with running(made_index(tmp_path, CITIES, intercept=-5.0)) as service:
        page = at(service, f"#q={QUESTION}")
        page.one("#results > .answers > .answer")
        assert len(page.all("#results > .answers > .answer")) == 1
        folded = len(page.all(".folded .answer"))
        assert folded >= 1
        assert page.texts(".folded summary") == [f"{folded} answer{'s' * (folded > 1)} below 5%"]
        page.press("ARROW_DOWN", "ARROW_DOWN")
        assert page.run("return document.activeElement.tagName") == "SUMMARY"
        page.press("ENTER")
        page.one(".folded .show")
        page.press("ARROW_DOWN")
        assert page.focused == page.texts(".folded .show")[0]


def test_phrases_of_one_sentence_stand_together(tmp_path: Path, at: Any) -> None:
    sentence = (
        "The river is in the city of Paris, the city is on the river, and the tower was built by the river in it."
    )
    with running(made_index(tmp_path, [Document("one", sentence)])) as service:
        found = service.ask(k=15).json["results"][0]["answers"]
        kept: list[Any] = []
        for phrase in (each["phrase"] for each in found):
            if all(phrase["start"] >= each["end"] or each["start"] >= phrase["end"] for each in kept):
                kept.append(phrase)
        assert len(kept) > 1, "else nothing is shown"
        page = at(service, f"#q={QUESTION}")
        page.one(".answer")
        assert page.texts(".text") == [sentence]
        assert page.texts(".text mark") == [kept[0]["text"]]
        assert page.texts(".other") == [each["text"] for each in kept[1:]]
        assert page.texts(".others")[0].startswith(f"Also in this sentence: {kept[1]['text']} (98%)")


def test_phrases_of_one_sentence_that_are_hardly_ever_right_are_folded(tmp_path: Path, at: Any) -> None:
    sentence = (
        "The river is in the city of Paris, the city is on the river, and the tower was built by the river in it."
    )
    with running(made_index(tmp_path, [Document("one", sentence)], intercept=-5.0)) as service:
        page = at(service, f"#q={QUESTION}")
        page.one(".answer details.others")
        assert page.all("p.others") == []
        hidden = page.run("return [...document.querySelectorAll('.others .other')].map(each => each.textContent)")
        assert hidden
        count = f"{len(hidden)} phrase{'s' * (len(hidden) > 1)}"
        assert page.texts(".others summary") == [f"{count} of this sentence below 5%"]
        page.one(".others summary").click()
        assert page.texts(".other") == hidden


def test_sources(tmp_path: Path, at: Any) -> None:
    documents = [
        Document("7", "The river is in the city.", "River", {"path": "notes/river.txt", "page": 3}),
        Document("8", "A river is in a city.", "Web", {"url": "https://example.org/river?a=1"}),
        Document("city.txt", "The city is on the river.", "city.txt"),
    ]
    with running(made_index(tmp_path, documents)) as service:
        page = at(service, f"#q={QUESTION}")
        page.one(".answer")
        assert sorted(page.texts(".path")) == ["example.org/river?a=1", "notes/river.txt"]
        links = page.run("return [...document.querySelectorAll('a.path')].map(a => [a.href, a.rel, a.target])")
        assert links == [["https://example.org/river?a=1", "noopener noreferrer", "_blank"]]
        page.open("#document=7")
        page.wait_for_text("#document-path", "notes/river.txt")


def test_a_citation_is_copied(tmp_path: Path, at: Any) -> None:
    document = Document("7", "The river is\nin the city.", "River", {"path": "notes/river.txt"})
    with running(made_index(tmp_path, [document])) as service:
        page = at(service, f"#q={QUESTION}")
        page.one(".answer")
        page.run("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
        page.one(".first .copy").click()
        page.wait_for_text(".first .copy", "Copied")
        copied = page.run("return window.copied")
        assert copied.startswith("“The river is in the city.” (River, notes/river.txt) http://127.0.0.1:")
        page.wait_for_text("#announcement", "Citation copied.")
        page.open(copied[copied.index("#") :])
        page.wait(lambda: page.texts("#document-text mark"), "the place that is cited")
        page.press("ESCAPE")
        page.one(".first .copy")
        page.run(
            "navigator.clipboard.writeText = () => Promise.reject(new Error('not secure'));"
            "document.execCommand = () => { window.copied = document.activeElement.value; return true; }"
        )
        page.one(".first .copy").click()
        page.wait(lambda: page.run("return window.copied") == copied, "a copy by selection")


def test_a_long_table_is_cut_around_the_phrase(tmp_path: Path, at: Any) -> None:
    table = "| cell " * 400 + "| the river is in the city |" + " cell |" * 400
    with running(made_index(tmp_path, [Document("table", table)])) as service:
        page = at(service, f"#q={QUESTION}")
        page.one(".answer")
        for text, mark in zip(page.texts(".text"), page.texts(".text mark"), strict=True):
            assert mark in text
            assert len(text) < 650
            assert "…" in text


def test_find_in_the_document(tmp_path: Path, at: Any) -> None:
    with running(made_index(tmp_path, [Document("long", LONG, "River")])) as service:
        page = at(service, "#document=long&start=4&end=9")
        page.wait(lambda: page.texts("#document-text mark"), "the document")
        page.one("#find").click()
        page.one("#find").send_keys("RIVER")
        page.wait_for_text("#found", "1 of 400 matches")
        assert page.texts("#document-text")[0] == LONG
        assert page.texts(".match.current") == ["river"]
        page.press("ENTER", "ENTER")
        page.wait_for_text("#found", "3 of 400 matches")
        assert page.texts("#document-text mark")[0] == "river"
        page.one("#find").send_keys(" zebra")
        page.wait_for_text("#found", "Not found")
        assert page.texts("#document-text")[0] == LONG
        assert page.all(".match") == []


def test_a_filter_on_metadata(cities: Running, at: Any) -> None:
    page = at(cities, f"#q={QUESTION}")
    page.one(".answer")
    assert "lang=en" in page.run("return [...document.querySelectorAll('#conditions option')].map(each => each.value)")
    page.one("#where").send_keys("lang=fr")
    found = first_answer(cities, where={"lang": "fr"})
    page.wait_for_text(".first .text", found["sentence"])
    page.wait(lambda: set(page.texts(".title")) == {"Paris"}, "documents in French only")
    assert "where=lang=fr" in page.fragment
    page.one("#where").clear()
    page.one("#where").send_keys("lang=de")
    page.wait_for_text("#notice", "No document meets the filter.")
    page.one("#where").clear()
    page.one("#where").send_keys("lang=en, french")
    page.wait_for_text("#notice", "“french” is no condition")
    page.open(f"#q={QUESTION}&where=lang=en+year=1889")
    page.wait_for_text("#notice", "No document meets the filter.")
    assert page.one("#where").get_attribute("value") == "lang=en year=1889"


def test_titles_where_no_question_can_be_made(tmp_path: Path, at: Any) -> None:
    with running(made_index(tmp_path, [Document("a/b", "It rains.", "Weather")], examples="")) as service:
        page = at(service)
        page.wait_for_text("#results h2", "Some of these documents")
        assert page.texts(".examples a") == ["Weather"]
        page.one(".examples a").click()
        page.wait_for_text("#document-text", "It rains.")


def test_the_api_is_described_and_can_be_tried(cities: Running, at: Any) -> None:
    page = at(cities, "docs")
    page.wait_for_text(".operation h3", "POST /v1/answers")
    schema = cities.call("GET", "/openapi.json").json
    assert len(page.all(".operation")) == sum(len(methods) for methods in schema["paths"].values())
    page.wait_for_text("code", "min_confidence")
    page.run("for (const each of document.querySelectorAll('details')) each.open = true")
    page.one("#post-v1-answers-body").clear()
    page.one("#post-v1-answers-body").send_keys('{"question": "where is the river?", "k": 1}')
    page.run("document.querySelector('#post-v1-answers-body').form.requestSubmit()")
    page.wait_for_text("pre", '"milliseconds"')
    page.one("#get-v1-documents-id--id").send_keys("places/london")
    page.run("document.querySelector('#get-v1-documents-id--id').form.requestSubmit()")
    page.wait_for_text("pre", "London is a city on the river.")
    page.look(width=320)
    assert not page.is_wider_than_the_screen


@pytest.mark.parametrize("dark", [False, True])
def test_the_description_of_the_api_keeps_nobody_out(cities: Running, at: Any, dark: bool) -> None:
    axe = pytest.importorskip("axe_core_python.selenium").Axe()
    page = at(cities, "docs")
    page.look(dark=dark)
    page.wait_for_text(".operation h3", "POST /v1/answers")
    page.run("for (const each of document.querySelectorAll('details')) each.open = true")
    found = axe.run(page.browser, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]})
    assert [(each["id"], each["nodes"]) for each in found["violations"]] == []


def test_example_questions(tmp_path: Path, at: Any) -> None:
    index = made_index(tmp_path, CITIES)
    with running(index) as service:
        page = at(service)
        page.one(".examples a")
        assert page.texts(".examples a") == [QUESTION, OTHER]
        page.press("ARROW_DOWN", "ARROW_DOWN", "ENTER")
        page.one(".answer")
        assert page.one("#question").get_attribute("value") == OTHER
        page.browser.back()
        page.one(".examples a")


def test_without_examples_the_page_says_what_to_do(tmp_path: Path, at: Any) -> None:
    with running(made_index(tmp_path, [Document("a", "It was built.")], examples="")) as service:
        page = at(service)
        arrived = "return performance.getEntriesByType('resource').some(each => each.name.endsWith('/v1/examples'))"
        page.wait(lambda: page.run(arrived), "the examples, of which there are none")
        page.wait_for_text("#results", "Type a question.")
        assert page.all(".examples") == []
        assert page.texts("#notice h2") == []


def test_keys(cities: Running, at: Any) -> None:
    page = at(cities, f"#q={QUESTION}")
    page.one(".answer")
    page.run("document.activeElement.blur()")
    page.press("/")
    assert page.focused == "question"
    assert page.one("#question").get_attribute("value") == QUESTION  # the / is no part of it
    links = page.texts(".show")
    page.press("ARROW_DOWN")
    assert page.focused == links[0]
    page.press("ARROW_DOWN")
    assert page.focused == links[1]
    page.press("ARROW_UP", "ARROW_UP")
    assert page.focused == "question"
    page.press("ARROW_DOWN", "ENTER")
    page.wait(lambda: page.texts("#document-text mark"), "the document")
    assert page.focused == "document-text"
    page.press("ESCAPE")
    page.wait(lambda: page.focused == links[0], "the focus back where it was")
    page.press("ESCAPE")
    assert page.focused == "question"
    page.press("ESCAPE")
    page.one(".examples")
    assert page.one("#question").get_attribute("value") == ""


def test_markup_in_documents_is_text(tmp_path: Path, at: Any) -> None:
    with running(made_index(tmp_path, [Document(EVIL, EVIL, EVIL)])) as service:
        page = at(service, f"#q={EVIL.replace('#', '')}&unit=document")
        page.one(".answer")
        assert page.texts(".headline")[0] == page.texts(".text")[0] == EVIL
        page.one(".show").click()
        page.wait_for_text("#document-title", EVIL)
        assert page.texts("#document-text")[0] == EVIL
        assert page.run("return window.hacked") is None
        assert page.all("main img, main script, main b, dialog img, dialog script, dialog b") == []


def test_a_key(tmp_path: Path, at: Any, keys: Keys) -> None:
    with running(made_index(tmp_path, CITIES), keys=keys) as service:
        page = at(service, f"#q={QUESTION}")
        for wrong in ("a-wrong-key-for-sure", "no key of words", "ключ"):
            page.one("#key").send_keys(wrong)
            page.press("ENTER")
            page.wait_for_text("[role=alert]", "does not know this key")
            page.browser.refresh()
        page.one("#key").send_keys(READING)
        page.press("ENTER")
        page.one(".answer")
        assert page.run("return [Object.values({...sessionStorage}), localStorage.length, document.cookie]") == [
            [READING],
            0,
            "",
        ]
        page.browser.refresh()
        page.one(".answer")
        page.one("#forget").click()
        page.one("#key")
        assert page.run("return sessionStorage.length") == 0


def test_two_tasks_compared(tmp_path: Path, at: Any) -> None:
    with running(made_index(tmp_path, CITIES, kind=TwoTasks)) as service:
        page = at(service, f"#q={QUESTION}")
        page.one(".answer")
        page.one("#compared option[value=upside-down]").click()
        page.one(".compared")
        assert page.texts(".compared h2") == ["default", "upside-down"]
        columns = [f".compared section:nth-child({number}) .text" for number in (1, 2)]
        for column, task in zip(columns, (None, "upside-down"), strict=True):
            assert page.texts(column)[0] == first_answer(service, task=task)["sentence"]
        changes = page.texts(".change")
        assert len(changes) == len(page.all(columns[1]))
        assert all(re.fullmatch(r"new|as before|was \d+(st|nd|rd|th)", change) for change in changes)
        page.look(width=360)
        assert not page.is_wider_than_the_screen
        page.one("#compared option[value=none]").click()
        page.wait(lambda: not page.all(".compared"), "one list again")
        page.one("#task option[value=upside-down]").click()
        page.wait_for_text(".first .text", first_answer(service, task="upside-down")["sentence"])


def test_a_model_with_one_task_offers_no_choice(cities: Running, at: Any) -> None:
    page = at(cities, f"#q={QUESTION}")
    page.one(".answer")
    assert not page.all("#tasks")[0].is_displayed()


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone(tmp_path: Path, at: Any, width: int) -> None:
    documents = [Document("a", f"The {UNBROKEN} is in the city.", UNBROKEN), *CITIES]
    with running(made_index(tmp_path, documents)) as service:
        page = at(service)
        page.look(width=width, height=700)
        page.one(".examples")
        assert not page.is_wider_than_the_screen
        for unit in ("phrase", "document"):
            page.open(f"#q={QUESTION}&unit={unit}")
            page.one(".answer")
            assert not page.is_wider_than_the_screen
        page.open("#document=a&start=4&end=9")
        page.wait(lambda: page.texts("#document-text mark"), "the document")
        assert not page.is_wider_than_the_screen
        assert page.run("const t = document.querySelector('#document-text'); return t.scrollWidth <= t.clientWidth")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(
    ("fragment", "awaited"),
    [
        ("", ".examples"),
        (f"#q={QUESTION}", ".answer"),
        (f"#q={QUESTION}&compare=upside-down", ".compared"),
        ("#document=paris&start=0&end=5", "#document-text mark"),
    ],
)
def test_nothing_keeps_anybody_out(tmp_path: Path, at: Any, fragment: str, awaited: str, dark: bool) -> None:
    """By the rules of WCAG 2.1 AA that a program can check, contrast included."""
    axe = pytest.importorskip("axe_core_python.selenium").Axe()
    with running(made_index(tmp_path, CITIES, kind=TwoTasks, intercept=0.0)) as service:
        page = at(service)
        page.look(dark=dark)
        page.open(fragment)
        page.one(awaited)
        found = axe.run(
            page.browser, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
        )
    assert [(each["id"], each["nodes"]) for each in found["violations"]] == []


def test_a_page_of_a_file_with_the_phrase_in_a_box(tmp_path: Path, at: Any) -> None:
    pytest.importorskip("pypdfium2")
    (tmp_path / "a.pdf").write_bytes(make_pdf("The tower is in Paris.", "The river is in London."))
    index = made_index(tmp_path, list(read_documents([tmp_path / "a.pdf"])))
    text = index.folder.snapshot.segments[0].text(0)
    start = text.index("London")
    with running(index, pages=tmp_path) as service:
        page = at(service)
        page.browser.get(f"{page.address}/#q=x&document=a.pdf&start={start}&end={start + 6}")
        page.browser.refresh()
        (box,) = page.all(".box") if page.one(".page .box") else []
        picture = page.one(".page img")
        assert picture.get_property("naturalWidth") >= 400
        assert picture.rect["x"] < box.rect["x"] < picture.rect["x"] + picture.rect["width"] / 2
        assert page.texts(".page figcaption") == ["Page 2 of 2"]
        assert page.texts("#document-text mark") == ["London"]
