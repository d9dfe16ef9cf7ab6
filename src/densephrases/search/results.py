"""A phrase that was found, and the answer that is shown for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from densephrases.search.answers import Alternative, Answer, PhraseSpan, SourceDocument
from densephrases.search.passages import FoundPassage, PassageTexts
from densephrases.search.request import Unit
from densephrases.search.scoring.pairs import Phrases
from densephrases.text.sentences import TextSpan


@dataclass(frozen=True, slots=True)
class Result:
    """A phrase that was found: its passage, its characters in it, and its score."""

    passage: FoundPassage
    phrase: TextSpan
    score: float

    @property
    def sentences(self) -> TextSpan:
        """The characters of the sentences around the phrase."""
        return self.passage.searched.sentences_around(self.phrase.start, self.phrase.end)

    def shown(self, unit: Unit) -> tuple[str, int, int]:
        """The id of the document, and in it the characters of what is shown."""
        shown = self._shown(unit)
        return self.passage.document.id, self.passage.begin + shown.start, self.passage.begin + shown.end

    def _shown(self, unit: Unit) -> TextSpan:
        if unit == "phrase":
            return self.phrase
        return self.sentences if unit == "sentence" else TextSpan(0, len(self.passage.text))

    def alternative(self, unit: Unit) -> Alternative:
        shown, begin = self._shown(unit), self.passage.begin
        return Alternative(
            self.passage.text[shown.start : shown.end], begin + shown.start, begin + shown.end, self.score
        )

    def answer(self, unit: Unit, confidence: float | None, alternatives: Sequence[Alternative] = ()) -> Answer:
        passage, text = self.passage, self.passage.text
        phrase, sentences, shown = self.phrase, self.sentences, self._shown(unit)
        begin, document = passage.begin, passage.document
        source = SourceDocument(document.id, document.title, document.metadata, document.layout)
        return Answer(
            text=text[shown.start : shown.end],
            score=self.score,
            confidence=confidence,
            start=begin + shown.start,
            end=begin + shown.end,
            document=source,
            passage=text,
            sentence=text[sentences.start : sentences.end],
            phrase=PhraseSpan(text[phrase.start : phrase.end], begin + phrase.start, begin + phrase.end),
            passage_start=begin,
            sentence_start=begin + sentences.start,
            unit=unit,
            section=source.section(begin + phrase.start),
            page=document.layout.page(begin + phrase.start),
            alternatives=tuple(alternatives),
        )


def results_from_phrases(phrases: Phrases, texts: PassageTexts) -> list[Result]:
    located = texts.locate(phrases)
    rows = zip(located.passage_N.tolist(), located.spans_N2.tolist(), phrases.score_N.tolist(), strict=True)
    return [Result(texts.passage(key), TextSpan(*span), score) for key, span, score in rows]
