"""The library as its users see it: documents in, answers out, whatever happens to the index in between."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import densephrases
from densephrases import Document, PhraseIndex
from densephrases.errors import ConfigError, DataError, PhraseIndexError
from densephrases.index.files.durable import FileEntry
from densephrases.index.kinds import Quantizer
from densephrases.index.progress import Progress
from densephrases.model.load import load
from densephrases.search.answers import Answer
from densephrases.text.layout import Layout, Section
from densephrases.text.readers.read import read_documents
from tests.index.made_up import HashEncoder

CITIES = [
    Document(
        "tower", "The tower in Paris was built by it.\r\n\r\nIt was a year.", "Tower", {"lang": "en", "year": 1889}
    ),
    Document("london", "London is a city on the river.\tWhen was it built?", "London", {"lang": "en"}),
    Document("paris", "Paris is in France.", "Paris", {"lang": "fr"}),
]
QUESTION = "where is the river?"


def text_of(index: PhraseIndex, identifier: str) -> str:
    document = index.document(identifier)
    assert document is not None
    return document.text


def found(index: PhraseIndex, **options: Any) -> list[tuple[str, str, float]]:
    return [(a.document.id, a.text, a.score) for a in index.search(QUESTION, 1000, **options)]


@pytest.fixture
def index(tmp_path: Path) -> PhraseIndex:
    return PhraseIndex.create(tmp_path / "index", CITIES, model=HashEncoder())


def test_create_from_a_generator(tmp_path: Path) -> None:
    """It is read once and not further than needed."""
    reports: list[Progress] = []

    def documents() -> Iterator[Document]:
        yield from CITIES

    made = PhraseIndex.create(tmp_path, documents(), model=HashEncoder(), progress=reports.append)
    assert len(made) == 3
    assert {document for document, _, _ in found(made)} == {"tower", "london", "paris"}
    last = reports[-1]
    assert (last.documents, last.passages, last.unchanged) == (3, made.info().passages, 0)
    assert last.vectors == made.info().vectors <= last.tokens
    assert made.document("paris") == CITIES[2]
    assert made.document("rome") is None


SECTIONED = Document(
    "manual",
    "The river\n\nIt is in the city of London.\n\nThe tower\n\nIt was built in a year. "
    + "The city is in France. " * 60,
    "Manual",
    layout=Layout((Section(0, 9, 1, "The river"), Section(41, 50, 2, "The tower")), (0, 41)),
)


@pytest.mark.parametrize("unit", ["phrase", "sentence"])
def test_answers_are_never_taken_from_headings(tmp_path: Path, unit: Any) -> None:
    made = PhraseIndex.create(tmp_path, [SECTIONED], model=HashEncoder())
    assert SECTIONED.text[41:50] == "The tower"
    answers = made.search(QUESTION, 1000, unit=unit)
    assert answers
    for answer in answers:
        assert not any(answer.phrase.start < end and answer.phrase.end > start for start, end in ((0, 9), (41, 50)))
        below = answer.phrase.start > 41
        assert answer.section == ("The river \u2013 The tower" if below else "The river")
        assert answer.page == 1 + below


def test_layouts_are_kept_and_only_written_where_there_is_one(tmp_path: Path) -> None:
    made = PhraseIndex.create(tmp_path, [SECTIONED, *CITIES], model=HashEncoder())
    made.optimize()
    assert made.document("manual") == SECTIONED
    assert made.document("paris") == CITIES[2]
    segment = made.folder.snapshot.segments[0]
    assert segment.record(1).layout == Layout()
    moved = Document("manual", SECTIONED.text, "Manual", layout=Layout(pages=(0,)))
    assert made.update([moved]).replaced == 1


def test_open(index: PhraseIndex) -> None:
    opened = PhraseIndex.open(index.folder.folder, HashEncoder())
    assert found(opened) == found(index)
    assert opened.info() == index.info()
    assert opened.check() == []


def test_open_finds_its_model(tmp_path: Path) -> None:
    PhraseIndex.create(tmp_path, CITIES[:1])
    assert PhraseIndex.open(str(tmp_path)).info().settings.model == "small"


def test_a_given_encoder_keeps_its_task() -> None:
    fixtures = Path(__file__).parents[1] / "fixtures" / "v0_1"
    given = load(fixtures / "model", task="keywords")
    assert PhraseIndex.open(fixtures / "index-int8", given).encoder is given
    assert PhraseIndex.open(fixtures / "index-int8", fixtures / "model", "keywords").encoder.config == given.config


def test_another_model_is_refused(index: PhraseIndex) -> None:
    with pytest.raises(PhraseIndexError, match=r"was built with model 'hash' \(fingerprint abc\)"):
        PhraseIndex.open(index.folder.folder, HashEncoder(fingerprint="other"))


def test_settings(tmp_path: Path) -> None:
    made = PhraseIndex.create(
        tmp_path / "all", CITIES, model=HashEncoder(), quantizer="fp16", filter_threshold=None, candidates="exact"
    )
    chosen = made.info().settings
    assert (chosen.quantizer, chosen.filter_threshold, chosen.candidates) == ("fp16", None, "exact")
    filtered = PhraseIndex.create(tmp_path / "few", CITIES, model=HashEncoder(), filter_threshold=0.9)
    assert filtered.info().vectors < made.info().vectors
    with pytest.raises(ConfigError, match="quantizer='int3'"):
        PhraseIndex.create(tmp_path / "odd", CITIES, model=HashEncoder(), quantizer="int3")  # type: ignore[arg-type]


def test_short_codes_find_what_long_ones_find(tmp_path: Path) -> None:
    questions = ["Where was the tower built?", "In which country is Paris?", "What is London?"]

    def answers(quantizer: Quantizer) -> list[str]:
        made = PhraseIndex.create(tmp_path / quantizer, CITIES, model="small", quantizer=quantizer)
        return [answer.text for (answer,) in made.search(questions, 1)]

    assert answers("pq") == answers("fp16")


def test_add(index: PhraseIndex) -> None:
    found(index)
    done = index.add(iter([*CITIES, Document("rome", "It was a city.")]))
    assert (done.documents, done.unchanged, len(index)) == (1, 3, 4)
    assert "rome" in {document for document, _, _ in found(index)}
    with pytest.raises(DataError, match="'rome' and another content; update it"):
        index.add([Document("rome", "In the river.")])


def test_update(index: PhraseIndex) -> None:
    found(index)
    done = index.update([Document("paris", "The tower."), *CITIES[:2], Document("rome", "A river.")])
    assert (done.documents, done.replaced, done.unchanged, len(index)) == (2, 1, 2, 4)
    assert text_of(index, "paris") == "The tower."
    assert all("France" not in text for _, text, _ in found(index))


def test_delete(index: PhraseIndex) -> None:
    before = found(index)
    with pytest.raises(DataError, match="no document with id 'rome'; nothing was deleted"):
        index.delete(["paris", "rome"])
    assert found(index) == before
    assert index.delete(["paris", "tower"]) == 2
    assert len(index) == 1
    assert {document for document, _, _ in found(index)} == {"london"}


def assert_same(some: list[tuple[str, str, float]], others: list[tuple[str, str, float]]) -> None:
    """Scores of one phrase computed among others of another number differ in their last digits."""
    some, others = sorted(some), sorted(others)
    assert [phrase[:2] for phrase in some] == [phrase[:2] for phrase in others]
    assert [phrase[2] for phrase in some] == pytest.approx([phrase[2] for phrase in others], abs=1e-5)


def test_optimize_changes_no_answer(index: PhraseIndex) -> None:
    index.add([Document("rome", "It was a city by the river.")])
    index.delete(["paris"])
    before = found(index)
    index.optimize()
    assert_same(found(index), before)
    assert (index.info().deleted, index.info().segments) == (0, 1)


def test_refresh_sees_what_others_wrote(index: PhraseIndex) -> None:
    reader = PhraseIndex.open(index.folder.folder, HashEncoder())
    before = found(reader)
    index.delete(["london"])
    assert found(reader) == before
    reader.refresh()
    assert {document for document, _, _ in found(reader)} == {"tower", "paris"}


def test_filters(index: PhraseIndex) -> None:
    assert {document for document, _, _ in found(index, where={"lang": "en"})} == {"tower", "london"}
    assert {document for document, _, _ in found(index, documents=["paris", "rome"])} == {"paris"}


def test_several_questions(index: PhraseIndex) -> None:
    questions = [QUESTION, "who built the tower?"]
    for together, question in zip(index.search(questions, 3), questions, strict=True):
        alone = index.search(question, 3)
        assert [(a.document.id, a.start, a.end) for a in together] == [(a.document.id, a.start, a.end) for a in alone]
        assert [a.score for a in together] == pytest.approx([a.score for a in alone], abs=1e-5)
    assert index.search([]) == []


def test_no_documents(tmp_path: Path) -> None:
    empty = PhraseIndex.create(tmp_path, [], model=HashEncoder())
    assert (len(empty), empty.search(QUESTION)) == (0, [])


def test_an_unexpected_failure_does_not_hash_the_whole_index(
    index: PhraseIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small files are read once, large ones never, however many searches fail."""
    hashed: list[str] = []
    from_file = FileEntry.from_file

    def noted(path: Path) -> FileEntry:
        hashed.append(path.name)
        return from_file(path)

    def fail(*_: Any) -> None:
        raise ZeroDivisionError("a bug")

    vectors = next(index.folder.folder.rglob("vectors.bin")).stat().st_size
    monkeypatch.setattr(FileEntry, "from_file", noted)
    monkeypatch.setattr("densephrases.search.retrieval.segment_retriever._VERIFIED_BYTES", vectors)
    monkeypatch.setattr(HashEncoder, "encode_questions", fail)
    for _ in range(5):
        with pytest.raises(ZeroDivisionError) as error:
            found(index)
        assert "`densephrases check INDEX` verifies all files" in error.value.__notes__[0]
    assert hashed
    assert len(hashed) == len(set(hashed))
    assert "vectors.bin" not in hashed


@pytest.mark.parametrize("name", ["records.bin", "passage_documents.bin"])
def test_damage_that_makes_a_search_fail_is_named(index: PhraseIndex, name: str) -> None:
    path = next(index.folder.folder.rglob(name))
    path.write_bytes(b"\xff" * path.stat().st_size)
    damaged = PhraseIndex.open(index.folder.folder, HashEncoder())
    with pytest.raises(PhraseIndexError, match=f"{name}' is damaged: its checksum differs"):
        found(damaged)


def test_other_failures_are_not_hidden(index: PhraseIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(HashEncoder, "encode_questions", fail)
    with pytest.raises(ZeroDivisionError):
        found(index)


def check_places(text: str, answer: Answer) -> None:
    assert text[answer.start : answer.end] == answer.text
    assert text[answer.phrase.start : answer.phrase.end] == answer.phrase.text
    for part, start in ((answer.sentence, answer.sentence_start), (answer.passage, answer.passage_start)):
        assert text[start : start + len(part)] == part
        assert start <= answer.phrase.start <= answer.phrase.end <= start + len(part)


ODD = ["", " ", "\t", "\r\n", "\n\n", "\r\n\r\n", "\x0b", "\x85", "\u2028", "\u3000", "\xa0", "\x00", "\ufeff", "."]
LETTERS = ["a", "É", "ß", "İ", "e\u0301", "中文", "😀", "👩\u200d👧", "\U00010348", "\u202e", "ﬁ", "क्ष", "x" * 40]
WORDS = st.sampled_from(["the", "city", "Tower,", "1889", "(it)"]) | st.sampled_from(LETTERS)
TEXTS = st.lists(st.tuples(WORDS, st.sampled_from(ODD)), max_size=40).map(lambda p: "".join(w + s for w, s in p))


@settings(max_examples=40)
@given(
    texts=st.lists(TEXTS, min_size=1, max_size=4), unit=st.sampled_from(["phrase", "sentence", "passage", "document"])
)
def test_answers_are_where_they_say(texts: list[str], unit: Any) -> None:
    documents = [Document(str(number), text, "Ä\ttitle") for number, text in enumerate(texts)]
    with TemporaryDirectory() as folder:
        made = PhraseIndex.create(Path(folder) / "index", documents, model=HashEncoder())
        for answer in made.search("where is it?", 20, unit=unit):
            check_places(texts[int(answer.document.id)], answer)


def test_answers_of_files_are_where_they_say(tmp_path: Path) -> None:
    """With the bundled model, from the bytes of a file to the characters of an answer."""
    text = (
        "\tÉmile 👩\u200d👧 lebte in Köln.\r\n\r\nMarie Curie was\tborn in\r\nWarsaw — in 1867.\x0b\u2028東京 is large."
    )
    (tmp_path / "odd.txt").write_bytes(text.encode())
    made = PhraseIndex.create(tmp_path / "index", read_documents([tmp_path / "odd.txt"]))
    assert text_of(made, "odd.txt") == text
    answers = made.search("Where was Marie Curie born?")
    assert answers[0].text == "Warsaw"
    for answer in answers:
        check_places(text, answer)


def test_the_example_of_the_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example = re.findall(r">>> (.*)\n", inspect.getdoc(PhraseIndex) or "")
    assert len(example) == 3
    names: dict[str, Any] = {"PhraseIndex": densephrases.PhraseIndex, "Document": densephrases.Document}
    for line in example[:2]:
        exec(line, names)  # noqa: S102
    assert eval(example[2], names) == "Warsaw"  # noqa: S307


def test_an_open_index_outlives_its_files(index: PhraseIndex) -> None:
    """Another process merges and removes what this one reads."""
    reader = PhraseIndex.open(index.folder.folder, HashEncoder())
    before = found(reader)
    text = text_of(reader, "tower")
    other = PhraseIndex.open(index.folder.folder, HashEncoder())
    other.delete(["paris"])
    other.optimize()
    assert found(reader) == before
    assert text_of(reader, "tower") == text
    after = reader.reopened()
    assert found(after) == found(other) != before
    assert found(reader) == before


def test_reopening_shares_what_has_not_changed(index: PhraseIndex) -> None:
    other = index.reopened()
    other.delete(["paris"])
    fresh = index.reopened()
    assert fresh.folder.segments[0] is index.folder.segments[0]
    assert (len(index), len(fresh)) == (3, 2)


def test_it_says_what_it_is(index: PhraseIndex) -> None:
    vectors = index.info().vectors
    model = index.folder.settings.model
    path = index.folder.folder
    assert repr(index) == f"PhraseIndex('{path}', documents=3, vectors={vectors:,}, model='{model}')"
    answer = index.search(QUESTION)[0]
    assert repr(answer) == f"Answer({answer.text!r}, title={answer.document.title!r}, id={answer.document.id!r})"


def test_a_with_block_closes_it(tmp_path: Path, index: PhraseIndex) -> None:
    with PhraseIndex.open(tmp_path / "index", HashEncoder()) as opened:
        answers = opened.search(QUESTION)
    assert answers == index.search(QUESTION)
    assert repr(opened) == f"PhraseIndex('{tmp_path / 'index'}', closed)"
    for call in (lambda: opened.search(QUESTION), opened.info, lambda: opened.delete(["paris"]), lambda: len(opened)):
        with pytest.raises(PhraseIndexError, match=r"is closed; open it again with PhraseIndex\.open"):
            call()
    opened.close()


@pytest.mark.parametrize(
    ("questions", "options", "sentence"),
    [
        (5, {}, "questions=5 is neither a question nor a list of questions; expected a text, such as"),
        (b"where?", {}, "questions=b'where.' is neither"),
        (None, {}, "questions=None is neither"),
        (["where?", 5], {}, "Question 2 is 5; expected a text with at least one word"),
        ("where?", {"unit": "sentense"}, "unit='sentense' is unknown; .* Did you mean 'sentence'?"),
        ("where?", {"kk": 3}, "'kk' is no option of a search; .* Did you mean 'k'?"),
        (
            "where?",
            {"zebra": 3},
            r"'zebra' is no option of a search; expected one of k, unit, .*explain, allow_partial\.$",
        ),
    ],
)
def test_mistakes_are_explained(index: PhraseIndex, questions: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises((ConfigError, DataError), match=sentence):
        index.search(questions, **options)
