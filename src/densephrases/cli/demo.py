"""`densephrases demo`: the sample articles, indexed, and questions to them."""

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from densephrases.atomic_files import replace_file

if TYPE_CHECKING:
    from densephrases.model.encoder import Encoder
    from densephrases.search.phrase_index import PhraseIndex

# Of the sample's questions one each about a date, a person, a place, a number and a thing.
SHOWN = (
    "When was the Battle of Hastings?",
    "Which farmer was the first to see Halley's Comet return as foretold?",
    "Where did Jane Goodall start to watch chimpanzees in 1960?",
    "How many gold medals did Jesse Owens bring home from Berlin?",
    "What wood is the front of a violin made of?",
)

_MODEL = "small"
_DIGITS = 12


def demo(
    no_prompt: Annotated[
        bool, typer.Option("--no-prompt", help="Print five questions and answers instead of a prompt.")
    ] = False,
    folder: Annotated[
        Path | None, typer.Option(help="Folder for the index [default: one in the user's cache].")
    ] = None,
) -> None:
    """Index about fifty Wikipedia articles that come with the package, then answer questions from them."""
    from densephrases.cli.ask import answer, at_terminal, converse, in_terminal
    from densephrases.cli.show.terminal import show_briefly
    from densephrases.model.load import load
    from densephrases.search.request import SearchRequest

    encoder = load(_MODEL)
    index = _sample_index(folder or _cache_folder() / f"sample-{_key(encoder)}", encoder)
    if no_prompt or not at_terminal():
        answer(index, list(SHOWN), SearchRequest(k=1), show_briefly)
    else:
        typer.echo(f"For example: {SHOWN[0]}")
        request = SearchRequest(unit="auto")
        converse(index, request, in_terminal(request))


def _sample_index(folder: Path, encoder: "Encoder") -> "PhraseIndex":
    from densephrases.cli.show.building import Building, console, source_of
    from densephrases.index.manifest import MANIFEST_FILE, Manifest
    from densephrases.index.sync.options import SyncOptions
    from densephrases.sample import articles_path
    from densephrases.search.phrase_index import PhraseIndex
    from densephrases.serve.runtime.suggested_questions import SUGGESTIONS_FILE
    from densephrases.text.readers.folders.read_report import ReadReport

    if (folder / MANIFEST_FILE).is_file() and not Manifest.load(folder).building:
        return PhraseIndex.open(folder, encoder)
    console.print(f"Indexing the sample articles once; the index is kept in {folder}.", markup=False, soft_wrap=True)
    report = ReadReport()
    documents, files = source_of(folder, [articles_path()], SyncOptions(strict=True), report)
    with Building(folder, documents, files, report) as building:
        index = PhraseIndex.create(folder, building.documents(), model=_MODEL, progress=building.reported)
    replace_file(folder / SUGGESTIONS_FILE, "\n".join([*SHOWN, ""]))  # for `serve`
    return index


def _key(encoder: "Encoder") -> str:
    """Changes with the model, the articles and the format of indexes, each of which needs a new index."""
    from densephrases.index.manifest import SCHEMA_VERSION
    from densephrases.sample import articles_path

    parts = f"{SCHEMA_VERSION} {encoder.fingerprint} ".encode() + articles_path().read_bytes()
    return sha256(parts).hexdigest()[:_DIGITS]


def _cache_folder() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("densephrases", appauthor=False)
