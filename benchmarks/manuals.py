"""Questions as people type them, asked of manuals that nobody prepared: HTML, AsciiDoc, Markdown and PDF.

python benchmarks/manuals.py fetch MANUALS     Debian's documentation packages, by apt-get and dpkg-deb
python benchmarks/manuals.py check MANUALS     whether every answer stands in the file that its question names
densephrases index MANUALS --out INDEX
python benchmarks/manuals.py run INDEX [--json FILE]

The questions are in `manuals.jsonl`: `kind`, `question`, `answers` (none if the manuals do not say), `file`, and
`sentence: true` where the sentence around the phrase is the answer. A phrase is right if it holds an answer and at most
`SPARE_WORDS` further words; a sentence, if it holds an answer; a document, if its file is the one that is named.
"""

import json
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from gzip import decompress
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from densephrases.cli.options import VerifyOption
from densephrases.search.answers import Answer
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.normalize import normalize_answer
from densephrases.text.readers.read import read_documents

QUESTIONS = Path(__file__).with_suffix(".jsonl")
SPARE_WORDS = 5
AMONG = 5
SURE, SHOWN = 0.5, 0.2
BARS = {"first": 62.0, "among five": 85.0, "wrong of the sure": 20.0, "absent shown": 10.0}

_POSTGRESQL = "usr/share/doc/postgresql-doc-15/html"
_SQLITE = "usr/share/doc/sqlite3"
_PYTHON = "usr/share/doc/python3.11/html"
_GIT = "usr/share/doc/git/html"
_SQLITE_PAGES = (
    "about atomiccommit autoinc backup chronology cli copyright crew datatype3 different eqp famous faq foreignkeys "
    "hirely invalidutf isolation json1 lang_altertable lang_attach lang_createindex lang_createtable lang_datefunc "
    "lang_insert lang_transaction lang_upsert lang_vacuum limits lts mostdeployed onefile partialindex pgszchng2016 "
    "pragma quirks rescode rowidtable selfcontained serverless stricttables tempfiles testing threadsafe "
    "transactional uri useovernet versionnumbers wal whentouse whyc whynotgit withoutrowid zeroconf"
)
_PYTHON_PAGES = (
    "bisect collections configparser csv fnmatch functools getopt glob gzip hashlib heapq http.server itertools "
    "json math pathlib queue random sched secrets shutil sqlite3 statistics tempfile textwrap timeit tomllib uuid "
    "venv zipfile zlib"
)
_GIT_PAGES = (
    "git-add git-am git-apply git-archive git-bisect git-blame git-branch git-bundle git-checkout git-cherry-pick "
    "git-clean git-clone git-commit git-describe git-diff git-fetch git-gc git-grep git-init git-log git-ls-files "
    "git-merge git-mv git-notes git-pull git-push git-rebase git-reflog git-remote git-reset git-restore git-revert "
    "git-rm git-shortlog git-show git-sparse-checkout git-stash git-status git-submodule git-switch git-tag "
    "git-worktree gitattributes gitignore glossary-content"
)

app = typer.Typer(add_completion=False, no_args_is_help=True)


@dataclass(frozen=True, slots=True)
class Manual:
    """Pages of a Debian package, by patterns below its root."""

    name: str
    package: str
    patterns: tuple[str, ...]


MANUALS = (
    Manual(
        "postgresql",
        "postgresql-doc-15",
        tuple(f"{_POSTGRESQL}/{part}*.html" for part in ("runtime-config-", "app-", "datatype-")),
    ),
    Manual("sqlite", "sqlite3-doc", tuple(f"{_SQLITE}/{page}.html" for page in _SQLITE_PAGES.split())),
    Manual(
        "python",
        "python3.11-doc",
        (
            *(f"{_PYTHON}/library/{page}.html" for page in _PYTHON_PAGES.split()),
            f"{_PYTHON}/tutorial/*.html",
            f"{_PYTHON}/using/cmdline.html",
        ),
    ),
    Manual("git", "git-doc", tuple(f"{_GIT}/{page}.txt" for page in _GIT_PAGES.split())),
    Manual("npm", "npm", tuple(f"usr/share/doc/npm/*/*.{ending}" for ending in ("md", "md.gz"))),
    Manual(
        "graphviz",
        "graphviz-doc",
        tuple(f"usr/share/doc/graphviz/pdf/{name}.pdf.gz" for name in ("dotguide", "neatoguide", "dot.1")),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    kind: str
    question: str
    answers: tuple[str, ...] = ()
    file: str = ""
    sentence: bool = False

    def is_answered_by(self, answer: Answer) -> bool:
        if not self.answers:
            return bool(self.file) and answer.document.id.endswith(self.file)
        said = f" {normalize_answer(answer.sentence if self.sentence else answer.phrase.text)} "
        golds = [normalize_answer(gold) for gold in self.answers]
        spare = len(said.split()) if self.sentence else SPARE_WORDS
        return any(f" {gold} " in said and len(said.split()) <= len(gold.split()) + spare for gold in golds)

    @property
    def is_absent(self) -> bool:
        return not self.answers and not self.file


@dataclass(frozen=True, slots=True)
class Asked:
    question: Question
    answers: list[Answer]

    @property
    def confidence(self) -> float:
        return (self.answers[0].confidence or 0.0) if self.answers else 0.0

    def right_among(self, k: int) -> bool:
        return any(map(self.question.is_answered_by, self.answers[:k]))


@dataclass(frozen=True, slots=True)
class KindScores:
    kind: str
    questions: int
    first: float
    among_five: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Report:
    questions: int
    first: float
    among_five: float
    sure: int
    sure_and_wrong: int
    absent: int
    absent_shown: int
    milliseconds: float
    kinds: list[KindScores]


def read_questions(path: Path = QUESTIONS) -> list[Question]:
    return [
        Question(**{**json.loads(line), "answers": tuple(json.loads(line).get("answers", ()))})
        for line in path.read_text().splitlines()
    ]


@app.command()
def fetch(
    folder: Annotated[Path, typer.Argument(help="Folder for the manuals; one folder below it for each.")],
) -> None:
    """Download the packages and copy their pages, uncompressed."""
    for manual in track(MANUALS, "fetching"):
        with tempfile.TemporaryDirectory() as unpacked:
            _run("apt-get", "download", manual.package, inside=unpacked)
            (package,) = Path(unpacked).glob("*.deb")
            _run("dpkg-deb", "-x", package.name, ".", inside=unpacked)
            for pattern in manual.patterns:
                _copy(Path(unpacked).glob(pattern), folder / manual.name)


def _run(*command: str, inside: str) -> None:
    subprocess.run(command, cwd=inside, check=True, capture_output=True)  # noqa: S603


def _copy(pages: Iterable[Path], target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for page in pages:
        if page.suffix == ".gz":
            (target / page.stem).write_bytes(decompress(page.read_bytes()))
        else:
            shutil.copyfile(page, target / page.name)


@app.command()
def check(folder: Annotated[Path, typer.Argument(help="Folder of the manuals.")]) -> None:
    """Compare the answers with the files that the questions name; exit code 1 if one is not there."""
    missing = list(_missing_answers(folder, read_questions()))
    for question in missing:
        print(f"{question.file}: {question.question}: none of {list(question.answers)}")
    print(f"{len(missing)} of {len(read_questions())} questions have an answer that their file does not hold")
    raise typer.Exit(code=bool(missing))


def _missing_answers(folder: Path, questions: Sequence[Question]) -> Iterator[Question]:
    texts: dict[str, str] = {}
    for question in questions:
        if not question.file:
            continue
        if question.file not in texts:
            documents = read_documents([folder / question.file])
            texts[question.file] = " ".join(f" {normalize_answer(each.text)} " for each in documents)
        if question.answers and not any(f" {normalize_answer(a)} " in texts[question.file] for a in question.answers):
            yield question


@app.command()
def run(
    folder: Annotated[Path, typer.Argument(metavar="INDEX", help="Index of the manuals.")],
    unit: Annotated[str, typer.Option(help="Unit of the results, as in `densephrases ask`.")] = "phrase",
    verify: VerifyOption = None,
    wrong: Annotated[bool, typer.Option("--wrong", help="Show the questions whose first answer is wrong.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here as well.")] = None,
) -> None:
    """Ask all questions, one by one."""
    index = PhraseIndex.open(folder)
    index.search("warm up")
    start = time.perf_counter()
    asked = [
        Asked(question, index.search(question.question, k=AMONG, unit=unit, verify=verify))
        for question in track(read_questions(), "asking")
    ]
    found = report(asked, 1000 * (time.perf_counter() - start) / len(asked))
    _show(found)
    if wrong:
        _show_wrong(asked)
    if json_file is not None:
        json_file.write_text(json.dumps(asdict(found), indent=2))


def report(asked: Sequence[Asked], milliseconds: float) -> Report:
    stated = [each for each in asked if not each.question.is_absent]
    absent = [each for each in asked if each.question.is_absent]
    sure = [each for each in asked if each.confidence > SURE]
    by_kind: dict[str, list[Asked]] = defaultdict(list)
    for each in asked:
        by_kind[each.question.kind].append(each)
    return Report(
        len(asked),
        _percent(each.right_among(1) for each in stated),
        _percent(each.right_among(AMONG) for each in stated),
        len(sure),
        sum(not each.right_among(1) for each in sure),
        len(absent),
        sum(each.confidence > SHOWN for each in absent),
        milliseconds,
        [_kind_scores(kind, of_kind) for kind, of_kind in sorted(by_kind.items())],
    )


def _kind_scores(kind: str, asked: Sequence[Asked]) -> KindScores:
    first, among = (_percent(each.right_among(k) for each in asked) for k in (1, AMONG))
    return KindScores(kind, len(asked), first, among, 100 * sum(each.confidence for each in asked) / len(asked))


def _percent(values: Iterable[bool]) -> float:
    counted = list(values)
    return 100 * sum(counted) / len(counted) if counted else 0.0


def _show(found: Report) -> None:
    table = Table("kind", "questions", "first %", "among five %", "mean confidence %")
    for kind in found.kinds:
        table.add_row(
            kind.kind, str(kind.questions), *(f"{v:.0f}" for v in (kind.first, kind.among_five, kind.confidence))
        )
    Console().print(table)
    print(
        f"{found.questions} questions, {found.milliseconds:.0f} ms each; first answer right {found.first:.1f}% "
        f"(bar {BARS['first']:.0f}), among five {found.among_five:.1f}% (bar {BARS['among five']:.0f}); "
        f"wrong above {SURE:.0%}: {found.sure_and_wrong} of {found.sure} (bar {BARS['wrong of the sure']:.0f}%); "
        f"absent shown above {SHOWN:.0%}: {found.absent_shown} of {found.absent} (bar {BARS['absent shown']:.0f}%)"
    )


def _show_wrong(asked: Sequence[Asked]) -> None:
    for each in asked:
        if each.right_among(1) or (each.question.is_absent and each.confidence <= SHOWN):
            continue
        said = [f"{answer.phrase.text[:60]!r} ({answer.document.id})" for answer in each.answers[:AMONG]]
        mark = "among five" if each.right_among(AMONG) else "not found"
        print(f"[{each.question.kind}, {mark}, {each.confidence:.0%}] {each.question.question}")
        print(f"    wanted {list(each.question.answers) or each.question.file!r}, found {'; '.join(said)}")


if __name__ == "__main__":
    app()
