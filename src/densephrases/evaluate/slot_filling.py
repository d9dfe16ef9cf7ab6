"""Slot filling: given "subject [SEP] relation", find the object and the document that proves it.

Every phrase comes with its document, which is the evidence that KILT asks for.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from densephrases.data.kilt import DocumentKey, EvidenceDocument, KiltRecord
from densephrases.errors import DataError
from densephrases.evaluate.kilt_scores import KiltScores, mean, scores
from densephrases.model.tokenizer import SEPARATOR
from densephrases.search.answers import Answer, SourceDocument
from densephrases.search.facts.relations import prefer_titled
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest

ASKED_AT_ONCE = 256
DOCUMENTS = 5  # KILT measures recall at 5
_RESULTS = 50  # searched for a document about the subject


@dataclass(frozen=True, slots=True)
class FilledSlot:
    """The best phrase (None if the index is empty) and documents, first the phrase's own."""

    record: KiltRecord
    answer: Answer | None
    documents: list[SourceDocument]

    @property
    def text(self) -> str:
        return "" if self.answer is None else self.answer.phrase.text


@dataclass(frozen=True, slots=True)
class SlotScores:
    """Percentages of the facts whose document is in the index (`in_index`) and of all facts of the file."""

    facts: int
    facts_in_file: int
    in_index: KiltScores
    all_facts: KiltScores

    def to_dict(self) -> dict[str, Any]:
        return {
            "facts": self.facts,
            "facts_in_file": self.facts_in_file,
            **asdict(self.in_index),
            "all_facts": asdict(self.all_facts),
        }


def provable(index: PhraseIndex, records: Sequence[KiltRecord], by: DocumentKey = "id") -> list[KiltRecord]:
    """The records with at least one evidence whose documents are all in the index."""
    names = sorted({_name(document, by) for record in records for each in record.evidence for document in each} - {""})
    known = set(index.folder.snapshot.locate(names)) if by == "id" else _titles(index).intersection(names)
    found = [r for r in records if r.answers and any(all(_name(d, by) in known for d in each) for each in r.evidence)]
    if not found:
        other = "title" if by == "id" else "id"
        raise DataError(
            f"No fact's document is in the index by its {by}, such as {names[0] if names else 'none given'!r}; "
            f"index the documents that the file names, or compare them by {other}."
        )
    return found


def fill_slots(
    index: PhraseIndex,
    records: Sequence[KiltRecord],
    request: SearchRequest | None = None,
    *,
    prefer_titles: bool = False,
    advance: Callable[[int], None] = lambda _: None,
) -> Iterator[FilledSlot]:
    """Asks each record once for phrases and once for documents; `request` says how, but not its k and unit.

    Only phrases are verified.
    """
    request = request or SearchRequest()
    for_phrases = replace(request, k=_RESULTS if prefer_titles else 1, unit="phrase", overlapping=True)
    for_documents = replace(request, k=DOCUMENTS, unit="document", verify=0)
    for first in range(0, len(records), ASKED_AT_ONCE):
        batch = records[first : first + ASKED_AT_ONCE]
        inputs = [record.input for record in batch]
        phrases = index.search(inputs, request=for_phrases)
        documents = index.search(inputs, request=for_documents)
        for record, found, others in zip(batch, phrases, documents, strict=True):
            best = prefer_titled(found, record.input.partition(SEPARATOR)[0])[:1] if prefer_titles else found
            sources = {answer.document.id: answer.document for answer in [*best, *others]}
            yield FilledSlot(record, best[0] if best else None, list(sources.values())[:DOCUMENTS])
        advance(len(batch))


def slot_scores(filled: Sequence[FilledSlot], counted: Sequence[KiltRecord], by: DocumentKey = "id") -> SlotScores:
    judged = {slot.record.id: _scores(slot, by) for slot in filled if slot.record.answers}
    return SlotScores(
        len(counted), len(judged), mean([judged[record.id] for record in counted]), mean(list(judged.values()))
    )


def _scores(slot: FilledSlot, by: DocumentKey) -> KiltScores:
    ranked = list(dict.fromkeys(_name(document, by) for document in slot.documents))
    evidence = [[_name(document, by) for document in each] for each in slot.record.evidence]
    return scores(slot.text, ranked, slot.record.answers, evidence)


def _name(document: SourceDocument | EvidenceDocument, by: DocumentKey) -> str:
    return document.id if by == "id" else document.title


def _titles(index: PhraseIndex) -> set[str]:
    pairs = zip(index.folder.segments, index.folder.deleted, strict=True)
    return {
        segment.record(number).title
        for segment, deleted in pairs
        for number in range(segment.documents)
        if deleted is None or not deleted[number]
    }
