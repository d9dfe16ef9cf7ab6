"""The documents run: every code block of the README and of docs/, and every command they name exists.

Blocks run page by page, in order, in a folder that has what `_prepare` puts there. The language of a block says what it
is: `python` (all blocks of a page share their names), `sh`, `console` (commands after `$ `, with their output), `json`,
and `text`, which is the output of the block that stands directly before it. In outputs `...` stands for anything, and
decimals may differ a little, as they do between processors.
"""

import contextlib
import io
import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from densephrases.data.squad import sample_path
from densephrases.index.folder import IndexFolder
from densephrases.sample import articles_path
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from densephrases.text.readers.read import read_documents

from .doc_commands import all_options, in_some_script, parse, parse_script
from .doc_pages import (
    ROOT,
    Block,
    anchors,
    arguments,
    assignment,
    blocks,
    commands,
    inline_code,
    links,
    pages,
    prose,
    session,
)
from .doc_shell import Shell, same_output

# Commands that are parsed instead of run, by how they begin, and why.
PARSED = {
    "pip install": "needs a network",
    "python -m spacy download": "needs a network",
    "hf download": "needs a network",
    "make": "installs packages and runs these tests",
    "nox": "needs several Pythons, and installs packages",
    "python release/": "tests/release tests it",
    "accelerate launch": "needs several GPUs",
    "python benchmarks/": "takes minutes, and data of gigabytes",
    "python examples/adapt.py": "takes a minute; tests/examples runs it with a tiny model",
    "python examples/citations.py": "needs a language model; tests/examples runs it with a tiny one",
    "python examples/pick_paragraphs.py": "needs Wikipedia; tests/examples runs it",
    "densephrases cluster": "starts Ray; tests/cluster runs it",
    "ray start": "starts a cluster; tests/cluster starts such",
    "densephrases demo": "indexes 53 articles, which takes minutes; tests/cli/test_demo.py runs it on fewer",
    "densephrases export": "needs a trained model; tests/cli/test_export.py runs it",
    "densephrases generate": "needs trained models or data of others; tests/cli/test_generate.py runs it",
    "densephrases import-original": "needs a checkpoint of the original; tests/nn/test_import_original.py makes one",
    "densephrases data get": "needs a network; tests/data/download and tests/cli/data run it against a local server",
    "densephrases index data/wikipedia": "needs a download of gigabytes",
    "densephrases index simplewiki": "takes half an hour, or a GPU",
    "densephrases index manuals": "needs packages of Debian; tests/benchmarks tests the rest",
    "densephrases reproduce": "takes minutes to days; tests/reproduce runs it at smoke size",
    "densephrases train": "takes minutes to hours; tests/cli/test_train.py runs it",
    "densephrases tune": "changes a trained model; tests/cli/tune runs it",
    "densephrases eval reading data/squad-test": "reads 10,570 questions; tests/cli/eval runs it on ten",
    "densephrases eval open notes-index data/webq": "needs a download",
    "densephrases eval slots wiki-index": "needs an index of Wikipedia; tests/cli/eval runs it on a small one",
    "densephrases eval own wiki-index": "needs an index of Wikipedia; tests/cli/eval runs it on a small one",
}
LANGUAGES = {"python", "sh", "console", "json", "text"}
SAMPLE = {"Ada Lovelace", "Marie Curie", "Violin"}
NOTES = {
    "lease.txt": "The lease of the flat ends on 31 March 2027. The rent is 950 euros a month.\n",
    "boiler.txt": "The boiler was repaired by Anna Berg in October. She charged 120 euros.\n",
}
QUESTIONS = [
    {"question": "When does the lease end?", "answers": ["31 March 2027"]},
    {"question": "Who repaired the boiler?", "answers": ["Anna Berg"]},
]

each_page = pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))


@pytest.fixture(scope="session")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of notes, its index, and an index of the beginnings of three sample articles."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "notes").mkdir()
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(text)
    PhraseIndex.create(folder / "notes-index", read_documents([folder / "notes"]))
    articles = [article for article in read_documents([articles_path()]) if article.title in SAMPLE]
    PhraseIndex.create(folder / "sample-index", [Document(a.id, a.text[:2000], a.title, a.metadata) for a in articles])
    return folder


def _prepare(folder: Path, indexes: Path, page: Path) -> None:
    """What the pages speak of, except the notes and their index where the page makes them itself."""
    (folder / "data").mkdir()
    passages = json.loads(sample_path().read_text())
    passages["data"] = passages["data"][:1]
    (folder / "data" / "squad-dev.json").write_text(json.dumps(passages))
    (folder / "questions.jsonl").write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS))
    (folder / "people.txt").write_text("Ada Lovelace\nMarie Curie\n")
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    made = {"notes", "notes-index"} if "--out notes-index" in page.read_text(encoding="utf-8") else set()
    for name in {"notes", "notes-index", "sample-index"} - made:
        shutil.copytree(indexes / name, folder / name)
    if "notes-index" not in made:
        IndexFolder.open(folder / "notes-index").move_root("notes", folder / "notes")


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with contextlib.closing(Shell(tmp_path)) as shell:
        yield shell


@pytest.mark.docs
@each_page
def test_blocks_run(page: Path, shell: Shell, indexes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _prepare(shell.folder, indexes, page)
    monkeypatch.chdir(shell.folder)
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    names: dict[str, Any] = {}
    printed = ""
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{block}: the language '{block.language}' is none of {LANGUAGES}"
        match block.language:
            case "python":
                printed = _run_python(block, shell, names)
            case "sh":
                printed = "".join(shell.run(command) for command in _to_run(block, shell))
            case "console":
                for command, shown in session(block.text):
                    if not _only_parsed(command):
                        assert same_output(shown, shell.run(command, terminal=True)), f"{block}: {command}"
            case "json":
                _parse_json(block)
            case "text" if block.follows:
                assert same_output(block.text, printed), f"{block}: it printed\n{printed}"


def _run_python(block: Block, shell: Shell, names: dict[str, Any]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(shell.on_free_port(block.text), str(block), "exec"), names)  # noqa: S102
    return printed.getvalue()


def _to_run(block: Block, shell: Shell) -> Iterator[str]:
    for command in commands(block.text):
        if set_here := assignment(command):
            shell.variables[set_here[0]] = set_here[1]
        elif not _only_parsed(command):
            yield command


def _only_parsed(command: str) -> bool:
    return command.startswith(tuple(PARSED))


def _parse_json(block: Block) -> None:
    decoder, text = json.JSONDecoder(), block.text.strip()
    while text:
        _, end = decoder.raw_decode(text)
        text = text[end:].strip()


def _commands_of(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Every shell command of a page, with the place where it stands."""
    variables: dict[str, str] = {}
    for block in blocks(page):
        lines = commands(block.text) if block.language == "sh" else []
        lines += [command for command, _ in session(block.text)] if block.language == "console" else []
        for line in lines:
            if set_here := assignment(line):
                variables[set_here[0]] = set_here[1]
            else:
                yield f"{block}: {line}", arguments(line, variables)


@each_page
def test_commands_exist(page: Path) -> None:
    for place, words in _commands_of(page):
        begin = words.index("densephrases") if words[0] == "accelerate" else 0  # after `accelerate launch -m`
        match words[begin:]:
            case ["densephrases", *rest]:
                parse(place, rest)
            case ["python", script, *rest] if script.endswith(".py"):
                parse_script(place, script, rest)
            case ["make", *targets]:
                known = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
                assert {target for target in targets if "=" not in target} <= set(known), place
            case [program, *_]:
                programs = {"cat", "cp", "curl", "echo", "head", "hf", "mkdir", "nox", "pip", "python", "ray"}
                assert program in programs, place


@each_page
def test_inline_commands_exist(page: Path) -> None:
    """`densephrases ask INDEX --json` in a sentence: the command and its options exist, arguments may be left out."""
    for code in inline_code(page):
        match code.replace("[", "").replace("]", "").split():
            case ["densephrases", first, *rest] if re.fullmatch("[a-z-]+", first):
                parse(f"{page.name}: {code}", [first, *rest], whole=False)


@each_page
def test_inline_options_exist(page: Path) -> None:
    """`--effort 0.7` in a sentence is an option of some command, or of a script."""
    known = all_options()
    for code in inline_code(page):
        for option in re.findall(r"(?<!\S)--[a-z][a-z0-9-]*", code):
            assert option in known or in_some_script(option) or code.startswith("torchrun"), f"{page.name}: {code}"


@each_page
def test_links_and_files_exist(page: Path) -> None:
    for target in links(page):
        if not target.startswith(("http://", "https://")):
            path, _, anchor = target.partition("#")
            linked = (page.parent / path).resolve() if path else page
            assert linked.exists(), f"{page.name} links to '{target}'"
            assert not anchor or anchor in anchors(linked), f"{page.name} links to '{target}'"
    for code in inline_code(page):
        if re.fullmatch(r"(src|tests|docs|recipes|benchmarks|examples|deploy)/[\w./-]+", code):
            assert (ROOT / code).exists(), f"{page.name} names '{code}'"
        elif re.fullmatch(r"[a-z_]+(/\w+)+\.py", code):
            assert (ROOT / "src" / "densephrases" / code).exists() or (ROOT / code).exists(), f"{page.name}: '{code}'"


@each_page
def test_modules_and_names_exist(page: Path) -> None:
    """`densephrases.evaluate.open_domain` in a sentence is a module, and what follows it is in there."""
    for code in inline_code(page):
        if re.fullmatch(r"densephrases(\.\w+)+", code):
            module = code
            while not _is_module(module):
                module = module.rpartition(".")[0]
            for name in filter(None, code.removeprefix(module).split(".")[1:2]):
                source = Path(str(_origin(module))).read_text(encoding="utf-8")
                assert re.search(rf"\b{name}\b", source), f"{page.name} names '{code}'"


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _origin(module: str) -> str | None:
    spec = find_spec(module)
    return spec.origin if spec else None


def test_the_extras_are_listed() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    table = prose(ROOT / "docs" / "layout.md").partition("## Extras")[2].partition("## ")[0]
    listed = {name for row in re.findall(r"^\| (.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert listed == declared.keys() - {"dev"}


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 130


def test_every_parsed_command_is_needed() -> None:
    """No reason without a command: what can run, runs."""
    lines = [place.partition(": ")[2] for page in pages() for place, _ in _commands_of(page)]
    assert [prefix for prefix in PARSED if not any(line.startswith(prefix) for line in lines)] == []


def test_old_names_are_gone() -> None:
    """Names of version 0.1 stand in the changelog and in the log alone."""
    old = ("word_weight", "--words", "eval code", "generate detach", "generate attach", "train mean", "`compact`")
    for page in pages():
        text = page.read_text(encoding="utf-8")
        assert [name for name in old if name in text] == [], page.name


def test_outputs_are_compared() -> None:
    assert same_output("1. Rome ... 82% sure\n", "1. Rome\n   score 154.17 · 81% sure\n")
    assert same_output("score 154.17", "score  154.02")
    assert not same_output("score 154.17", "score 124.02")
    assert not same_output("31 March 2027", "31 March 2026")
    assert not same_output("Rome", "Rome and Paris")
    assert same_output("Rome ...", "Rome and Paris")


def test_the_tree_is_the_packages() -> None:
    """docs/layout.md names every folder of the first floor, and no folder that is not there."""
    tree = next(block.text for block in blocks(ROOT / "docs" / "layout.md") if block.text.startswith("src/"))
    path: list[str] = []
    named = set()
    for indent, name in re.findall(r"^( +)(\w+)/ ", tree, re.MULTILINE):
        path = [*path[: len(indent) // 2 - 1], name]
        named.add("/".join(path))
    package = ROOT / "src" / "densephrases"
    assert {name for name in named if not (package / name).is_dir()} == set()
    assert {init.parent.name for init in package.glob("*/__init__.py")} <= named
