"""From ranked phrases to answers: what counts as a different result, and how a result is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from densephrases.arrays import Ints, Mask
from densephrases.search.passages import FoundPassage, PassageTexts, PlacedPhrases
from densephrases.search.request import Unit
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.pairs import NOTHING, Phrases
from densephrases.text.normalize import normalize_answer
from densephrases.text.sentences import TextSpan
from densephrases.text.words import is_phrase

Boundaries = Literal["both", "start", "none"]
# Which boundaries two different phrases may not share. On SQuAD the right phrase is more often among ten that may
# share both, at the price of fewer places in the text: 73 of 100, 67 if starts and 60 if both must differ.
BOUNDARIES: Boundaries = "none"

# How many phrases of the ranked list are looked at first for each result, and how many times as many whenever they do
# not suffice: around a good phrase stand others that differ from it by a word. Fewer if their words must be compared.
PHRASES_A_RESULT = 6
PHRASES_A_LEXICAL_RESULT = 2
MORE = 4

_ROW_BITS = 40  # a part has fewer rows than this can count, and there are fewer than 2 ** 23 parts
_OFFSET_BITS = 20  # a token begins below 2 ** 16, and its sentence ends not much later


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """The document an answer comes from."""

    id: str
    title: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PhrasePlace:
    """A phrase and where it stands in its document's text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Answer:
    """A result; all offsets count the characters of the document's text.

    Attributes:
        text: The phrase, the sentence or the passage; of a document, its best passage.
        start: Where that begins: `text` is `document.text[start:end]`.
        phrase: The best phrase within it, to which the score belongs.
        confidence: The probability that the phrase is right; None if the model has no calibration.
        unit: What is shown as `text`.
    """

    text: str
    score: float
    confidence: float | None
    start: int
    end: int
    document: SourceDocument
    passage: str
    sentence: str
    phrase: PhrasePlace
    passage_start: int
    sentence_start: int
    unit: Unit

    def to_dict(self) -> dict[str, Any]:
        """As the command prints it in JSON."""
        shown: dict[str, Any] = {
            "text": self.text,
            "score": self.score,
            "confidence": self.confidence,
            "start": self.start,
            "end": self.end,
            "document": {
                "id": self.document.id,
                "title": self.document.title,
                "metadata": dict(self.document.metadata),
            },
            "passage": self.passage,
            "sentence": self.sentence,
        }
        return shown if self.unit == "phrase" else shown | {"phrase": asdict(self.phrase)}


@dataclass(frozen=True, slots=True)
class Distinct:
    """Chooses the best phrase of every different result; each rule looks at better phrases only.

    Phrases begin and end where words do and are more than punctuation. Different ones: no better one of the same
    passage has the same normal form, and none begins, or begins or ends, where it does (`boundaries`). Different
    sentences are those around the phrase, from its first to its last. Where phrases are the results, what they repeat
    of the question's words is taken off their scores.
    """

    texts: PassageTexts
    unit: Unit
    wanted: int
    boundaries: Boundaries = BOUNDARIES

    def __call__(self, several: Sequence[Phrases], words: QuestionTerms | None) -> list[Phrases]:
        """Of all questions in one go: to look things up penalties much the same for ten phrases and for hundreds."""
        words = words if penalizes_repetitions(self.unit) else None
        results = [NOTHING] * len(several)
        first = self.wanted * (PHRASES_A_RESULT if words is None else PHRASES_A_LEXICAL_RESULT)
        counts = {question: first for question, phrases in enumerate(several) if len(phrases)}
        while counts:
            heads = [several[question].best(count) for question, count in counts.items()]
            chosen = self._chosen(heads, None if words is None else words.take(np.array(list(counts))))
            asked, counts = list(counts), {}
            for question, head, result in zip(asked, heads, chosen, strict=True):
                results[question] = result
                needed = self._needed(several[question], result, len(head))
                if needed > len(head):
                    counts[question] = needed
        return results

    def _needed(self, phrases: Phrases, chosen: Phrases, looked_at: int) -> int:
        """How many phrases must be looked at: all that would come before the last chosen if they repeated nothing."""
        if len(chosen) < self.wanted:
            return min(MORE * looked_at, len(phrases))
        return int(np.count_nonzero(phrases.score_N >= chosen.score_N[-1]))

    def _chosen(self, heads: Sequence[Phrases], words: QuestionTerms | None) -> list[Phrases]:
        """The results among the head of each ranked list."""
        if self.unit == "phrase":
            ranked = self._ranked(heads, words)
            return [each.phrases.take(self._different_phrases(each)) for each in ranked]
        return [head.take(np.flatnonzero(_is_first(self._keys(head)))[: self.wanted]) for head in heads]

    def _ranked(self, heads: Sequence[Phrases], words: QuestionTerms | None) -> list[PlacedPhrases]:
        """The phrases of each head by what they score less what they repeat."""
        joined = self.texts.placed(Phrases.joined(heads))
        edges = np.cumsum([0, *map(len, heads)])
        if words is not None:
            question_N = np.repeat(np.arange(len(heads)), np.diff(edges))
            penalties_N = words.repetition_penalties(question_N, self.texts.of_phrases(joined))
            joined = replace(joined, phrases=replace(joined.phrases, score_N=joined.phrases.score_N - penalties_N))
        placed = [joined.take(slice(*edge)) for edge in pairwise(edges.tolist())]
        return placed if words is None else [each.take(each.phrases.order()) for each in placed]

    def _different_phrases(self, ranked: PlacedPhrases) -> Ints:
        rows = np.flatnonzero(different_boundaries(ranked.phrases, self.boundaries))
        seen: set[tuple[int, str]] = set()
        chosen: list[int] = []
        survivors = ranked.take(rows)
        columns = zip(rows.tolist(), survivors.passage_N.tolist(), survivors.spans_N2.tolist(), strict=True)
        for place, passage, (start, end) in columns:
            text = self.texts.of_key(passage).text
            key = passage, normalize_answer(text[start:end])
            if key not in seen and is_phrase(text, start, end):
                seen.add(key)
                chosen.append(place)
            if len(chosen) == self.wanted:
                break
        return np.array(chosen, dtype=np.int64)

    def _keys(self, phrases: Phrases) -> Ints:
        """Numbers that tell the sentences, passages or documents of phrases apart."""
        if self.unit == "document":
            return self.texts.document_keys(phrases)
        keys_N = self.texts.passage_keys(phrases)
        if self.unit == "passage":
            return keys_N
        _, passage_N = np.unique(keys_N, return_inverse=True)
        sentences_N2 = self.texts.sentences(keys_N, self.texts.spans(phrases))
        return (((passage_N << _OFFSET_BITS) + sentences_N2[:, 0]) << _OFFSET_BITS) + sentences_N2[:, 1]


def penalizes_repetitions(unit: Unit) -> bool:
    """Whether phrases pay for words that they repeat: if they are the results. A passage is none the worse for it."""
    return unit == "phrase"


def different_boundaries(ranked: Phrases, boundaries: Boundaries) -> Mask:
    different_N = np.ones(len(ranked), dtype=bool)
    part_N = ranked.part_N << _ROW_BITS
    if boundaries != "none":
        different_N &= _is_first(part_N + ranked.start_N)
    if boundaries == "both":
        different_N &= _is_first(part_N + ranked.end_N)
    return different_N


def _is_first(keys_N: Ints) -> Mask:
    first_N = np.zeros(len(keys_N), dtype=bool)
    first_N[np.unique(keys_N, return_index=True)[1]] = True
    return first_N


def answers_of(phrases: Phrases, confidences: Sequence[float | None], unit: Unit, texts: PassageTexts) -> list[Answer]:
    passage_N, spans_N2 = texts.passage_keys(phrases), texts.spans(phrases)
    passages = [texts.of_key(key) for key in passage_N.tolist()]
    both = (spans_N2, texts.sentences(passage_N, spans_N2))
    spans, sentences = ([TextSpan(*span) for span in several.tolist()] for several in both)
    columns = zip(passages, spans, sentences, phrases.score_N.tolist(), confidences, strict=True)
    return [_answer(*values, unit) for values in columns]


def _answer(
    passage: FoundPassage, phrase: TextSpan, sentence: TextSpan, score: float, confidence: float | None, unit: Unit
) -> Answer:
    shown = {"phrase": phrase, "sentence": sentence}.get(unit, TextSpan(0, len(passage.text)))
    begin, document = passage.begin, passage.document
    return Answer(
        text=passage.text[shown.start : shown.end],
        score=score,
        confidence=confidence,
        start=begin + shown.start,
        end=begin + shown.end,
        document=SourceDocument(document.id, document.title, document.metadata),
        passage=passage.text,
        sentence=passage.text[sentence.start : sentence.end],
        phrase=PhrasePlace(passage.text[phrase.start : phrase.end], begin + phrase.start, begin + phrase.end),
        passage_start=begin,
        sentence_start=begin + sentence.start,
        unit=unit,
    )
