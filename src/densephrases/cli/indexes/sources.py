"""The arguments that name the documents to index, and what is read of them."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from densephrases.text.readers.limits import parse_size

if TYPE_CHECKING:
    from densephrases.index.sync.options import SyncOptions

_FORMATS = "text, Markdown, HTML, PDF, Office, EPUB, mail, tables, JSON, images, ZIM, Wikipedia dumps; .gz .xz .bz2"
Paths = Annotated[list[Path] | None, typer.Argument(metavar="PATHS...", help=f"Files and folders: {_FORMATS}.")]
Folders = Annotated[list[Path] | None, typer.Argument(metavar="FOLDERS...", help=f"Folders, and files: {_FORMATS}.")]
NamedRoots = Annotated[
    list[str] | None,
    typer.Option(
        "--root",
        metavar="NAME=FOLDER",
        help="Also read this folder; the ids of its documents begin with NAME/ (with nothing if NAME is empty).",
    ),
]
Moved = Annotated[
    bool, typer.Option("--moved", help="The folders are those of these names in the index, which were elsewhere.")
]
Include = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Also read such files or folders, as in '*.py'; may be repeated."),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Leave such files or folders out, as in 'drafts'; may be repeated."),
]
AllFiles = Annotated[
    bool,
    typer.Option(
        "--all-files",
        help="Read all files of folders [default: no source code, dependencies, build outputs, configuration, "
        "hidden files].",
    ),
]
MaxDocument = Annotated[
    str,
    typer.Option(metavar="SIZE", help="Skip documents with more bytes, decompressed; such as 500K, 50M or 1G."),
]
FollowLinks = Annotated[
    bool, typer.Option("--follow-links", help="Read what symbolic links inside folders lead to [default: skip links].")
]
LARGEST_DOCUMENT = "50M"
Strict = Annotated[bool, typer.Option("--strict", help="Fail at the first file or record that cannot be read.")]
SkippedFile = Annotated[
    Path | None,
    typer.Option(
        "--report",
        help="Write path and reason of everything that is skipped or left out to this file: .jsonl, or text with tabs.",
    ),
]
ReplaceOthers = Annotated[
    bool,
    typer.Option("--replace-others", help="Let files replace documents of other folders, or of no known file."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Tell what would be done, and change nothing.")]


def source_options(
    root: NamedRoots = None,
    include: Include = None,
    exclude: Exclude = None,
    all_files: AllFiles = False,
    max_document: MaxDocument = LARGEST_DOCUMENT,
    follow_links: FollowLinks = False,
) -> "SyncOptions":
    """The options that say what is read."""
    from densephrases.index.sync.options import SyncOptions
    from densephrases.text.readers.folders.roots import parse_named

    return SyncOptions(
        named=parse_named(root or ()),
        include=tuple(include or ()),
        exclude=tuple(exclude or ()),
        all_files=all_files,
        max_document=parse_size(max_document),
        follow_links=follow_links,
    )


def with_source_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command that has those of `source_options` on the command line, in the place of its parameter `options`."""
    shared = dict(signature(source_options).parameters)

    @wraps(command)
    def run(**given: Any) -> None:
        options = source_options(**{name: given.pop(name) for name in shared})
        command(**given, options=options)

    own = signature(command).parameters.values()
    shown = [each for one in own for each in (shared.values() if one.name == "options" else (one,))]
    keywords = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in shown]
    run.__signature__ = Signature(keywords)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in keywords}
    return run
