"""Question files of published data sets.

The format is recognised by the content of the file, or named by the caller.
"""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from densephrases.data.formats import READERS, recognise
from densephrases.data.matching.regex_answers import PatternAnswer
from densephrases.data.questions import FORMATS, Format, OpenQuestion
from densephrases.errors import DataError


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """`notes` are sentences to print beside the results."""

    questions: list[OpenQuestion]
    format: Format
    notes: list[str]


def read_questions(path: Path, form: Format | None = None, regex: bool | None = None) -> QuestionFile:
    """The questions of a file that have an answer or a relevant document.

    Args:
        path: A file, compressed or not, or a folder in BEIR's format.
        form: Its format; None recognises it.
        regex: Whether gold answers are regular expressions; None takes what the file says.
    """
    if not path.exists():
        raise DataError(f"Question file '{path}' does not exist; give a file in one of the formats {FORMATS}.")
    if path.is_dir() and form not in (None, "beir"):
        raise DataError(f"'{path}' is a folder; the format {form} is a file. Give the file, or name no format.")
    chosen: Format = form or ("beir" if path.is_dir() else recognise(path))
    official = official_file(path)
    patterns = regex if regex is not None else official is not None and official.regex
    questions = [replace(q, regex=q.regex or patterns) for q in READERS[chosen](path)]
    if regex is False:
        questions = [replace(q, regex=False) for q in questions]
    answered = [q for q in questions if q.answers or q.documents]
    if not answered:
        raise DataError(f"'{path}' has no question with an answer, so there is nothing to evaluate.")
    _refuse_equal_ids(answered, path)
    return QuestionFile(answered, chosen, _notes(path, answered, len(questions), official))


def _refuse_equal_ids(questions: list[OpenQuestion], path: Path) -> None:
    name, times = Counter(q.id for q in questions).most_common(1)[0]
    if times > 1:
        raise DataError(f"'{path}' has {times} questions with the id '{name}'; expected unique ids.")


def _notes(path: Path, questions: list[OpenQuestion], total: int, official: "OfficialFile | None") -> list[str]:
    notes = []
    if official is not None:
        relation = "as" if total == official.questions else f"not {official.questions:,} as"
        notes.append(f"{path.name}: {total:,} questions, {relation} in Table C.1 of the paper for {official.name}.")
    if total > len(questions):
        notes.append(f"Questions without an answer, which are left out: {total - len(questions):,}.")
    broken = sum(q.regex and not PatternAnswer(a).readable for q in questions for a in q.answers)
    if broken:
        notes.append(f"Invalid regular expressions, which match nothing: {broken:,}.")
    return notes


@dataclass(frozen=True, slots=True)
class OfficialFile:
    """A published file and the number of its questions according to the paper."""

    name: str
    questions: int
    regex: bool = False


_NAMES = {"nq": "Natural Questions", "webq": "WebQuestions", "trivia": "TriviaQA", "squad1": "SQuAD"}
_COUNTS = {
    "nq": (79168, 8757, 3610),
    "webq": (3417, 361, 2032),
    "curatedtrec": (1353, 133, 694),
    "trivia": (78785, 8837, 11313),
    "squad1": (78713, 8886, 10570),
}
# Files that are not from DPR: the data set, and the splits of the paper that make up the file.
_OTHERS = {
    "NQ-open.train.jsonl": ("nq", (0, 1)),
    "NQ-open.dev.jsonl": ("nq", (2,)),
    "webquestions.examples.train.json": ("webq", (0, 1)),
    "webquestions.examples.test.json": ("webq", (2,)),
    "WebQuestions-train.txt": ("webq", (0, 1)),
    "WebQuestions-test.txt": ("webq", (2,)),
    "CuratedTrec-train.txt": ("curatedtrec", (0, 1)),
    "CuratedTrec-test.txt": ("curatedtrec", (2,)),
    "unfiltered-web-dev.json": ("trivia", (2,)),
    "train-v1.1.json": ("squad1", (0, 1)),
    "dev-v1.1.json": ("squad1", (2,)),
    "SQuAD-v1.1-train.txt": ("squad1", (0, 1)),
    "SQuAD-v1.1-dev.txt": ("squad1", (2,)),
}
_SPLITS = ("train", "dev", "test")
_KILT = {"trex": ("T-REx", (2284168, 5000, 5000)), "structured_zeroshot": ("Zero-Shot RE", (147909, 3724, 4966))}


def official_file(path: Path) -> OfficialFile | None:
    """The published file with this name; None if it is none of them."""
    name = path.stem if path.suffix in (".gz", ".xz", ".bz2") else path.name
    return _official_files().get(name)


def _official_files() -> dict[str, OfficialFile]:
    def known(data_set: str, splits: tuple[int, ...]) -> OfficialFile:
        counts = sum(_COUNTS[data_set][split] for split in splits)
        label = f"{_NAMES.get(data_set, 'CuratedTREC')} ({' and '.join(_SPLITS[split] for split in splits)})"
        return OfficialFile(label, counts, data_set == "curatedtrec")

    files = {name: known(data_set, splits) for name, (data_set, splits) in _OTHERS.items()}
    for number, split in enumerate(_SPLITS):
        for data_set in _COUNTS:
            files[f"{data_set}-{split}.qa.csv"] = known(data_set, (number,))
        for prefix, (label, counts) in _KILT.items():
            files[f"{prefix}-{split}-kilt.jsonl"] = OfficialFile(f"{label} ({split})", counts[number])
    return files
