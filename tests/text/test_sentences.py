"""Sentences by hand-written cases, by properties over odd text, and on a megabyte of what patterns are slow at."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.sentences import TextSpan, ends_as_sentence, paragraph_spans, sentence_spans
from tests.text.sentence_oracle import sentences_around

WORDS = [
    "a",
    "The",
    "U.S.",
    "Mr.",
    "e.g.",
    "No.",
    "5",
    "J.",
    "\u4e2d\u6587\u3002",
    "\u05d0\u05d1.",
    "\U0001d538",
    "#",
    "-",
]
MARKS = [".", "!", "?", "\u2026", '"', ")", "[1]", "\u0301", "\u200b", "\u200f", "\ufeff", "\u200d", "\x00"]
SPACES = [" ", "  ", "\t", "\n", "\r\n", "\r", "\n \n", "\u00a0", "\u2028", "\u2029", "\u3000", "\x0c", "\x1c"]
ODD_TEXT = st.lists(st.sampled_from(WORDS + MARKS + SPACES), max_size=40).map("".join) | st.text(max_size=60)

# Each case is the text's sentences, in the text set apart by one space.
CASES = [
    ["One sentence only"],
    ["It rained.", "We stayed in."],
    ["Is it?", "Yes!", "Good."],
    ["He waited\u2026", "Then he left."],
    ["He waited... and left.", "She stayed."],
    ["He waited...", "Then he left."],
    ["He waited . . . and left.", "She stayed."],
    ["What?!", "Nothing."],
    ["Mr. Smith met Dr. Jones.", "They talked."],
    ["MRS. SMITH LEFT.", "HE STAYED."],
    ["Prof. Lee and Gen. Grant met Rep. Ryan."],
    ["Our sales rep.", "Peter called."],
    ["Use a tool, e.g. Python.", "It works."],
    ["Mammals, i.e. Cats and dogs (e.g. Poodles), live here."],
    ["He lives in the U.S. Army base."],
    ["He lives in the U.S.", "The base is old."],
    ["The U.S. 7th Fleet sailed.", "It won."],
    ["J. R. R. Tolkien wrote it.", "C. S. Lewis read it."],
    ["John F. Kennedy was president.", "He died in 1963."],
    ["J.-P. Sartre and A. A. Milne met."],
    ["It has vitamin C.", "The rest is water."],
    ["It needs vitamin C.", "A lack of it kills."],
    ["See No. 5 and Vol. II of it.", "Then stop."],
    ["She said no.", "Peter left."],
    ["She said no.", "I agreed."],
    ["On Dec. 25 they met.", "It was in Dec.", "Peter came."],
    ["The sun.", "Mars follows."],
    ["Roe v. Wade was decided.", "It was Ali vs. Frazier."],
    ["He moved to St. Louis.", "St. Paul is near."],
    ["The shop is on Main St.", "It is closed."],
    ["Pi is 3.14 or so.", "Is 2.5 more?"],
    ["It costs $3.50.", "5 people paid."],
    ["It costs more.", "$5 is enough."],
    ["See example.com for more.", "Then call."],
    ["Born c. 1400 (d. 1460) there.", "He was poor."],
    ["About approx. 50 came.", "Smith et al. (1999) saw it."],
    ["Acme Inc. Chairman Bob Ltd. quit.", "Bros. Grimm wrote."],
    ["He works for Acme Inc.", "He is rich."],
    ["Apples, pears, etc. Grow them.", "Or not."],
    ["Apples, pears, etc.", "The rest is meat."],
    ["We met at 5 p.m. Tuesday.", "At 6 a.m.", "They left."],
    ["Ann has a Ph.D. Physics is hard.", "Bob has none."],
    ['"Stop!" he said.', '"Why?" she asked.'],
    ['He said "Stop."', "She did."],
    ["He said \u201cStop.\u201d", "\u201cWhy?\u201d she asked."],
    ["(It was late.)", "We slept."],
    ["He wrote: \u2018No.\u2019", "(Nobody knew.)", "[Sic.]"],
    ["The treaty [...] Britain signed held.", "It was born (?) Rome."],
    ["It ended in 1901.[12]", "She died.[3][4]", "He lived."],
    ["**Bold.**", "*Then* plain."],
    ["\u2014 Go.", "\u2014 No."],
    ["1. Introduction"],
    ["2. Methods are old.", "3 of them work."],
    ["It was 45.", "He died."],
    ["iPods sell. iPhones sell more.", "So do Macs."],
    ["Caf\u00e9.", "\u00c9tienne left."],
    ["Cafe\u0301.", "E\u0301tienne left."],
    ["\u00bfQu\u00e9?", "\u00a1Nada!", "\u00bfY t\u00fa?"],
    [
        "\u0410. \u0421. \u041f\u0443\u0448\u043a\u0438\u043d \u0436\u0438\u043b.",
        "\u041e\u043d \u0443\u043c\u0435\u0440.",
    ],
    ["\u0645\u0627 \u0647\u0630\u0627\u061f", "\u0644\u0627 \u0634\u064a\u0621."],
    ["\u0930\u093e\u092e \u0918\u0930 \u0917\u092f\u093e\u0964", "\u0938\u0940\u0924\u093e \u0906\u0908\u0964"],
    ["Hello! \U0001f600 world.", "\U0001f600 World."],
]

# Where the text is not its sentences with spaces between.
LINE_CASES = [
    ("", []),
    (" \t\r\n ", []),
    ("...", ["..."]),
    (" A b. \n", ["A b."]),
    ("A line\nwrapped here. Then\nmore.", ["A line\nwrapped here.", "Then\nmore."]),
    ("A heading\n\nand text", ["A heading", "and text"]),
    ("A heading\r\n \t\r\nand text", ["A heading", "and text"]),
    ("A heading\r\rand text", ["A heading", "and text"]),
    ("A heading\u2029and text", ["A heading", "and text"]),
    ("One\r\nline", ["One\r\nline"]),
    ("## Heading\nThe text.", ["## Heading", "The text."]),
    ("Buy:\n- milk\n- eggs\n\n1. Cook\n2. Eat", ["Buy:", "- milk", "- eggs", "1. Cook", "2. Eat"]),
    ("| a | b |\n| c | d |", ["| a | b |", "| c | d |"]),
    ("\u6211\u6765\u3002\u4f60\u5462\uff1f\u597d", ["\u6211\u6765\u3002", "\u4f60\u5462\uff1f", "\u597d"]),
    ("\u300c\u884c\u304f\u3002\u300d\u4ed6\u8bf4\u3002", ["\u300c\u884c\u304f\u3002\u300d", "\u4ed6\u8bf4\u3002"]),
    ("No space.After it", ["No space.After it"]),
    ("One.   Two.\tThree.\u00a0Four.", ["One.", "Two.", "Three.", "Four."]),
]


def pieces(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentence_spans(text)]


def assert_covers(text: str, spans: list[TextSpan]) -> None:
    """Spans are in order, apart, stripped, not empty, and leave out nothing but space."""
    assert all(text[s.start : s.end] == text[s.start : s.end].strip() != "" for s in spans)
    borders = [0, *(border for span in spans for border in (span.start, span.end)), len(text)]
    assert borders == sorted(borders)
    assert all(not text[end:start].strip() for end, start in zip(borders[::2], borders[1::2], strict=True))


@pytest.mark.parametrize("sentences", CASES, ids=" ".join)
def test_sentences(sentences: list[str]) -> None:
    assert pieces(" ".join(sentences)) == sentences


@pytest.mark.parametrize(("text", "sentences"), LINE_CASES)
def test_sentences_and_lines(text: str, sentences: list[str]) -> None:
    assert pieces(text) == sentences


@given(ODD_TEXT)
def test_sentences_cover_the_text(text: str) -> None:
    spans = sentence_spans(text)
    assert_covers(text, spans)
    assert spans == sentence_spans(text)


@given(ODD_TEXT)
def test_sentences_stay_within_paragraphs(text: str) -> None:
    paragraphs = paragraph_spans(text)
    assert_covers(text, paragraphs)
    for sentence in sentence_spans(text):
        assert sum(p.start <= sentence.start and sentence.end <= p.end for p in paragraphs) == 1


@given(st.lists(ODD_TEXT, min_size=2, max_size=4))
def test_paragraphs_are_read_one_by_one(parts: list[str]) -> None:
    assert pieces("\n\n".join(parts)) == [sentence for part in parts for sentence in pieces(part)]


@pytest.mark.parametrize(
    ("unit", "count"),
    [("a. ", 1), (".", 1), (". ", 1), ("a", 1), ("a ", 1), ("\n", 0), (" ", 0), ('"', 1), ("A. ", 1), ("(", 1)],
)
def test_a_megabyte_that_is_one_sentence(unit: str, count: int) -> None:
    assert len(sentence_spans(unit * (1_000_000 // len(unit)))) == count


@pytest.mark.parametrize("unit", ["Go! ", "Go on. ", "Go\n\n", "\u597d\u3002", "Go.[1] ", "- a\n"])
def test_many_short_sentences(unit: str) -> None:
    count = 200_000 // len(unit)
    assert len(sentence_spans(unit * count)) == count


def test_sentences_around_a_phrase() -> None:
    text = " One two.  Three four. Five.\n\nSix"

    def around(phrase: str) -> str:
        start = text.index(phrase)
        span = sentences_around(text, start, start + len(phrase))
        return text[span.start : span.end]

    assert around("two") == around("One two.") == "One two."
    assert around("two.  Three") == around(".  T") == "One two.  Three four."
    assert around("four. Five.\n\nS") == "Three four. Five.\n\nSix"
    assert around(" Five") == "Five."
    assert sentences_around(text, 5, 5) == TextSpan(1, 9)
    assert sentences_around(text, 9, 11) == TextSpan(9, 11)  # only space
    assert sentences_around(text, len(text), len(text)) == TextSpan(len(text), len(text))
    assert sentences_around("", 0, 0) == TextSpan(0, 0)


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 1), (0, 5)])
def test_no_such_phrase(start: int, end: int) -> None:
    with pytest.raises(ValueError, match=f"No phrase at {start}:{end} in a text of 4 characters"):
        sentences_around("Four", start, end)


@given(ODD_TEXT, st.data())
def test_sentences_around_are_those_that_touch(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    span = sentences_around(text, start, end)
    touched = [s for s in sentence_spans(text) if set(range(s.start, s.end)) & set(range(start, max(end, start + 1)))]
    assert span == (TextSpan(touched[0].start, touched[-1].end) if touched else TextSpan(start, end))
    assert not text[start : max(start, span.start)].strip()
    assert not text[min(end, span.end) : end].strip()


def test_ends_as_sentence() -> None:
    assert all(map(ends_as_sentence, ["Yes.", "Yes!\u201d", "(Yes.)", "\u597d\u3002"]))
    assert not any(map(ends_as_sentence, ["", "Yes", "1.5", "Yes:", '"']))
