"""How an index is brought in step with folders."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from densephrases.errors import ConfigError
from densephrases.text.readers.folders.left_out import Selection
from densephrases.text.readers.limits import MAX_DOCUMENT
from densephrases.text.readers.read import ReadOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOptions:
    """The options of a sync.

    Attributes:
        named: Folders that are read as well, by the names with which the ids of their documents shall begin.
        include: Patterns of files below folders that are read though they would be left out.
        exclude: Patterns of files below folders that are left out as well.
        all_files: Whether all files below folders are read that are not excluded.
        follow_links: Whether symbolic links inside folders are followed.
        strict: Whether the first file or record that cannot be read raises DataError.
        max_document: The most bytes of one document, decompressed.
        prune: Whether documents are deleted whose file, or whose record in it, is gone.
        allow_empty: Whether to prune even if all files are gone; a drive may just not be mounted.
        replace_others: Whether files may replace documents of other roots, and such as came from no known file.
        settle_seconds: Files that were modified less long ago are deferred: someone may be writing them.
    """

    named: Mapping[str, Path] = field(default_factory=dict)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    all_files: bool = False
    follow_links: bool = False
    strict: bool = False
    max_document: int = MAX_DOCUMENT
    prune: bool = True
    allow_empty: bool = False
    replace_others: bool = False
    settle_seconds: float = 0.0

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """An unknown name raises ConfigError."""
        names = [each.name for each in fields(cls)]
        if unknown := [name for name in options if name not in names]:
            raise ConfigError(f"{unknown[0]!r} is no option of a sync; expected one of {', '.join(names)}.")
        return cls(**options)

    @property
    def selection(self) -> Selection:
        return Selection(include=tuple(self.include), exclude=tuple(self.exclude), all_files=self.all_files)

    @property
    def reading(self) -> ReadOptions:
        return ReadOptions(strict=self.strict, max_document=self.max_document, follow_links=self.follow_links)
