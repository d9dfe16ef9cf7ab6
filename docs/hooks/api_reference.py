"""Hook of mkdocs: the page of the public Python names, which mkdocstrings fills from their docstrings."""

from dataclasses import dataclass

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PAGE = "api.md"


@dataclass(frozen=True)
class Entry:
    """A public name, and those of its methods that are shown, in this order."""

    name: str
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    title: str
    about: str
    entries: tuple[Entry, ...]


_SEARCHING = ("create", "open", "search", "extract", "fit", "with_task")
_CHANGING = ("add", "update", "sync", "delete", "optimize")
_READING = ("document", "documents", "roots", "info", "disk_usage", "check", "refresh", "reopened", "close")
_CLIENT = ("search", "extract", "document", "add", "update", "delete", "info", "with_task", "close")

SECTIONS = (
    Section(
        "Index and search",
        "`PhraseIndex` is the main class: an index folder, its model, and the search over both.",
        (
            Entry("densephrases.PhraseIndex", (*_SEARCHING, *_CHANGING, *_READING)),
            Entry("densephrases.search.request.SearchRequest", ("with_options",)),
            Entry("densephrases.search.deadline.Deadline", ("after", "never", "cancel")),
            Entry("densephrases.search.timings.Timings", ("rest",)),
        ),
    ),
    Section(
        "Answers and facts",
        "What `search` and `extract` return.",
        (
            Entry("densephrases.Answer", ("to_dict",)),
            Entry("densephrases.search.answers.SourceDocument", ("section",)),
            Entry("densephrases.search.answers.Alternative"),
            Entry("densephrases.search.facts.relations.Fact", ("to_dict",)),
        ),
    ),
    Section(
        "Documents",
        "What goes into an index, and what reads it from files.",
        (Entry("densephrases.Document"), Entry("densephrases.Passage"), Entry("densephrases.read_documents")),
    ),
    Section(
        "Models",
        "`load` takes bundled and exported models; `PhraseModel` is the model in torch and needs the extra `train`.",
        (
            Entry("densephrases.load"),
            Entry("densephrases.PhraseModel", ("from_base", "from_pretrained", "save_pretrained", "encoder")),
        ),
    ),
    Section(
        "Clients of a service",
        "They have the methods of `PhraseIndex` and need the extra `client`.",
        (Entry("densephrases.Client", _CLIENT), Entry("densephrases.AsyncClient", _CLIENT)),
    ),
    Section(
        "Adapting",
        "What `PhraseIndex.fit` takes and returns; needs the extra `train`.",
        (
            Entry("densephrases.train.fit.FitSettings"),
            Entry("densephrases.train.queries.adaptation.Adaptation", ("save", "coverage")),
        ),
    ),
    Section(
        "Errors",
        "All are `DensePhrasesError`. [Troubleshooting](troubleshooting.md) has their messages.",
        tuple(
            Entry(f"densephrases.errors.{name}")
            for name in (
                *("DensePhrasesError", "ConfigError", "DataError", "ModelError", "PhraseIndexError", "IndexBusyError"),
                *("DeadlineExceededError", "DiskFullError", "ServiceError", "MissingExtraError"),
            )
        ),
    ),
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    files.append(File.generated(config, PAGE, content=api_page()))
    return files


def api_page() -> str:
    return "# Python\n\n" + "\n".join(map(_section, SECTIONS))


def _section(section: Section) -> str:
    return "\n\n".join([f"## {section.title}", section.about, *map(_directive, section.entries)]) + "\n"


def _directive(entry: Entry) -> str:
    members = f"[{', '.join(entry.members)}]" if entry.members else "false"
    return f"::: {entry.name}\n    options:\n      members: {members}"
