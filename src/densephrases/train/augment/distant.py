"""Distant supervision: passages that hold an answer, found for questions that came without passages, as DPR does."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from densephrases.data.decontaminate import HeldOut, LeakReport
from densephrases.data.files import read_questions
from densephrases.data.generated.bm25 import Bm25Passages, require_bm25
from densephrases.data.generated.located_answers import is_ambiguous, locator_of, most_likely
from densephrases.data.generated.resumable_lines import ResumableLines
from densephrases.data.generated.source_passages import SourcePassage, read_source
from densephrases.data.matching.gold_answers import squeeze
from densephrases.data.questions import OpenQuestion
from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage, write_squad
from densephrases.errors import ConfigError, DataError
from densephrases.index.folder import IndexFolder
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.passages import Passage
from densephrases.text.readers.files import refuse_missing_folder, split_name

QUESTIONS_AT_ONCE = 512
LEAKS_FILE = "leaks.json"

_CACHED_PASSAGES = 1 << 16

Advance = Callable[[int], None]


@dataclass(frozen=True, kw_only=True)
class DistantSupervision:
    """Settings for finding passages of questions.

    Attributes:
        questions: Question files in any known format.
        passages: SQuAD JSON or documents.
        index: Folder of an index whose passages are searched too, by its model as well as by BM25.
        exclude: SQuAD files whose articles, passages and questions are left out, or files of questions to leave out.
        candidates: Passages that each search finds for a question.
        per_question: Maximum number of passages with an answer per question.
        negatives: Maximum number of passages without an answer per question.
        limit: Maximum number of questions.
    """

    questions: tuple[Path, ...]
    passages: tuple[Path, ...] = ()
    index: Path | None = None
    exclude: tuple[Path, ...] = ()
    candidates: int = 50
    per_question: int = 5
    negatives: int = 2
    limit: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("candidates", 1), ("per_question", 1), ("negatives", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name}={getattr(self, name)} is too small; expected at least {least}.")
        if self.limit is not None and self.limit < 1:
            raise ConfigError(f"limit={self.limit} is too small; expected at least 1.")
        if not self.passages and self.index is None:
            raise ConfigError("There is nothing to search; name files of passages or an index.")
        stems = [split_name(path)[0] for path in self.questions]
        if len(set(stems)) < len(stems):
            raise ConfigError(f"Question files named {', '.join(stems)} would give equal ids; rename one of them.")

    def settings(self) -> dict[str, Any]:
        """Everything that determines the output."""
        names = {name: [path.name for path in getattr(self, name)] for name in ("questions", "passages", "exclude")}
        return asdict(self) | names | {"index": None if self.index is None else self.index.name}


@dataclass(slots=True)
class DistantReport:
    """What became of the questions."""

    questions: int = 0
    leaks: LeakReport = field(default_factory=LeakReport)
    answered: int = 0  # questions with at least one passage that holds an answer
    unanswered: int = 0
    triples: int = 0
    negatives: int = 0  # passages without any question
    passages: int = 0


def find_passages(
    settings: DistantSupervision,
    out: Path,
    resume: bool = True,
    collected: Advance = lambda _: None,
    advance: Advance = lambda _: None,
) -> DistantReport:
    """Writes SQuAD JSON with the passages found for each question. An interrupted run is continued if `resume` is set.

    Args:
        settings: What to search for, and where.
        out: The file to write. Until it is complete there are `OUT.unfinished` and the folder `OUT.passages`.
        resume: Whether to continue an interrupted run; otherwise its files are removed.
        collected: Called with the number of passages read.
        advance: Called with the number of questions searched for.
    """
    require_bm25()
    refuse_missing_folder(out)
    report = DistantReport()
    held_out = HeldOut.read(settings.exclude)
    questions = _admitted(settings, held_out, report)
    lines = ResumableLines(out, settings.settings(), resume=resume)
    folder = out.with_name(f"{out.name}.passages")
    if not resume:
        shutil.rmtree(folder, ignore_errors=True)
    if not folder.is_dir():
        _collect(settings, held_out, folder, collected)
    passages = Bm25Passages(folder)
    _add_leaks(report, folder)
    search = CandidateSearch(passages, settings)
    advance(lines.done)
    for at in range(lines.done, len(questions), QUESTIONS_AT_ONCE):
        group = questions[at : at + QUESTIONS_AT_ONCE]
        lines.add(search(group))
        advance(len(group))
    written = assemble(questions, passages, lines.records(), report)
    if not report.triples:
        raise DataError(f"No passage holds an answer to any of {len(questions):,} questions; give other passages.")
    write_squad(out, written, {"distant": settings.settings()})
    lines.discard()
    shutil.rmtree(folder)
    return report


def _admitted(settings: DistantSupervision, held_out: HeldOut, report: DistantReport) -> list[OpenQuestion]:
    """Questions with answers that are not held out; ids begin with the name of their file."""
    admitted: list[OpenQuestion] = []
    for path in settings.questions:
        stem = split_name(path)[0]
        for question in read_questions(path).questions:
            if report.questions == settings.limit:
                return admitted
            report.questions += 1
            if held_out.admits_question(question.text, report.leaks):
                named = OpenQuestion(f"{stem}:{question.id}", question.text, question.answers, question.regex)
                admitted.append(named)
    return admitted


def _collect(settings: DistantSupervision, held_out: HeldOut, folder: Path, advance: Advance) -> None:
    """Builds the folder of passages, which appears when it is complete."""
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    leaks = LeakReport()
    admitted = (p for p in _distinct(_sources(settings)) if held_out.admits(p.passage, leaks))
    Bm25Passages.build(admitted, partial, advance)
    (partial / LEAKS_FILE).write_text(json.dumps(asdict(leaks)), encoding="utf-8")
    partial.rename(folder)


def _sources(settings: DistantSupervision) -> Iterator[SourcePassage]:
    article = -1
    for source in read_source(settings.passages) if settings.passages else ():
        article = source.article
        yield source
    if settings.index is not None:
        yield from index_passages(settings.index, article + 1)


def index_passages(index: Path, first: int = 0) -> Iterator[SourcePassage]:
    """The passages of all documents that are not deleted; `first` is the number of the first article."""
    folder = IndexFolder.open(index)
    for segment, deleted in zip(folder.segments, folder.deleted, strict=True):
        for number, document in enumerate(segment.passage_documents.tolist()):
            if deleted is None or not deleted[document]:
                record = segment.record(document)
                passage = Passage(segment.passage_text(number), record.title)
                yield SourcePassage(f"{segment.name}#{number}", passage, first + document)
        first += segment.documents


def _distinct(sources: Iterable[SourcePassage]) -> Iterator[SourcePassage]:
    seen: set[int] = set()
    for source in sources:
        key = hash(source.passage)
        if key not in seen:
            seen.add(key)
            yield source


def _add_leaks(report: DistantReport, folder: Path) -> None:
    passages = json.loads((folder / LEAKS_FILE).read_text(encoding="utf-8"))
    for name in ("checked", "title", "overlap"):
        setattr(report.leaks, name, passages[name])


class CandidateSearch:
    """Finds passages for questions and locates the answers in them."""

    def __init__(self, passages: Bm25Passages, settings: DistantSupervision) -> None:
        self._passages, self._settings = passages, settings
        self._index = None if settings.index is None else PhraseIndex.open(settings.index)
        self._numbers = {source.passage: n for n, source in enumerate(passages)} if self._index is not None else {}
        self._squeezed = lru_cache(_CACHED_PASSAGES)(lambda number: squeeze(passages[number].passage.text))

    def __call__(self, questions: Sequence[OpenQuestion]) -> Iterator[dict[str, Any]]:
        """For each question the numbers of passages with an answer, which is located, and of others."""
        found = self._candidates([question.text for question in questions])
        return (self._record(question, numbers) for question, numbers in zip(questions, found, strict=True))

    def _candidates(self, texts: Sequence[str]) -> list[list[int]]:
        by_terms = self._passages.search(texts, self._settings.candidates)
        if self._index is None:
            return by_terms
        answers = self._index.search(texts, self._settings.candidates, unit="passage", verify=0)
        places = ([Passage(answer.passage, answer.document.title) for answer in each] for each in answers)
        by_model = ([self._numbers[passage] for passage in each if passage in self._numbers] for each in places)
        return [alternating(*both) for both in zip(by_terms, by_model, strict=True)]

    def _record(self, question: OpenQuestion, candidates: Sequence[int]) -> dict[str, Any]:
        locator = locator_of(question)
        answered: list[dict[str, Any]] = []
        negatives: list[int] = []
        for number in candidates:
            if len(answered) == self._settings.per_question and len(negatives) == self._settings.negatives:
                break
            text, squeezed = self._passages[number].passage.text, self._squeezed(number)
            located = locator.locate(text, squeezed)
            if located and len(answered) < self._settings.per_question:
                chosen = most_likely(question.text, text, located)
                place = {"passage": number, "text": chosen.text, "start": chosen.start}
                more = {"ambiguous": is_ambiguous(text, chosen), "aliases": locator.aliases(chosen, located)}
                answered.append(place | more)
            elif not located and len(negatives) < self._settings.negatives and not locator.occurs_in(text, squeezed):
                negatives.append(number)
        return {"id": question.id, "answered": answered, "negatives": negatives if answered else []}


def alternating(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """The numbers of two rankings in turn, each once."""
    both = (number for pair in zip_longest(first, second) for number in pair if number is not None)
    return list(dict.fromkeys(both))


def assemble(
    questions: Sequence[OpenQuestion],
    passages: Sequence[SourcePassage],
    records: Sequence[Mapping[str, Any]],
    report: DistantReport,
) -> list[QuestionedPassage]:
    """The passages in their order, with their questions; negatives have none."""
    found: dict[int, list[Question]] = {}
    for question, record in zip(questions, records, strict=True):
        for number, place in enumerate(record["answered"]):
            answer = GoldAnswer(place["text"], place["start"], place["ambiguous"])
            triple = Question(f"{question.id}#{number}", question.text, (answer,), aliases=tuple(place["aliases"]))
            found.setdefault(place["passage"], []).append(triple)
        for number in record["negatives"]:
            found.setdefault(number, [])
        report.answered += bool(record["answered"])
        report.unanswered += not record["answered"]
        report.triples += len(record["answered"])
    report.passages = len(found)
    report.negatives = sum(not asked for asked in found.values())
    return [
        QuestionedPassage(passages[number].passage, passages[number].article, tuple(asked))
        for number, asked in sorted(found.items())
    ]
