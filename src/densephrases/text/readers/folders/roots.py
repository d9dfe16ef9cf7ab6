"""Roots: the folders that were given to be read, each with a name. They make ids unique and the same every time.

The id of a file's document is the path below its root. If an index has documents of several roots, the ids of all but a
first one that was read alone begin with the name of the root. An index keeps the folder of each root, so that files
below it have the same ids from any working directory and in any company; another folder of the same name is refused.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from densephrases.errors import ConfigError, DataError
from densephrases.text.documents import SourceFile

_NAMELESS = "root"  # of the folder '/', which has no name


@dataclass(frozen=True, slots=True)
class Root:
    """A folder, the name under which an index knows it, and what its documents' ids begin with."""

    name: str
    folder: Path
    prefix: str = ""

    def source(self, path: Path, modified_ns: int, size: int) -> SourceFile:
        """Of a file below it, by its whole path."""
        below = path.relative_to(self.folder).as_posix()
        return SourceFile(self.name, below, modified_ns, size, str(self.folder), self.prefix)


@dataclass(frozen=True, slots=True)
class Roots:
    """All roots of an index or of a reading; a file belongs to the innermost that it is below."""

    roots: tuple[Root, ...] = ()

    @classmethod
    def from_recorded(cls, recorded: Mapping[str, Mapping[str, str]]) -> Self:
        """As an index keeps them: names with folder and prefix."""
        roots = (Root(name, Path(each["folder"]), each.get("prefix", "")) for name, each in recorded.items())
        return cls(tuple(sorted(roots, key=_depth, reverse=True)))

    def of(self, path: Path) -> Root | None:
        """By a whole path."""
        return next((root for root in self.roots if path.is_relative_to(root.folder)), None)

    def named(self, name: str) -> Root | None:
        return next((root for root in self.roots if root.name == name), None)

    def with_places(self, places: Sequence[Path], named: Mapping[str, Path] | None = None) -> Self:
        """Also those of the files and folders that are to be read now.

        Args:
            places: What is below none of the known roots gets a new one: the folder, or that of the file.
            named: Names that the user has chosen, with their folders. An empty name stands for ids without a prefix.
        """
        known = self
        for name, folder in (named or {}).items():
            known = known._with_named(name, whole_path(folder))
        new = [folder for folder in map(_container, places) if known.of(folder) is None]
        outermost = [folder for folder in dict.fromkeys(new) if not _is_inside(folder, new)]
        alone = len(outermost) == 1 and not known.roots
        for folder in outermost:
            name = folder.name or _NAMELESS
            known = known._with(Root(name, folder, "" if alone else f"{name}/"))
        return known

    def _with_named(self, name: str, folder: Path) -> Self:
        if not folder.is_dir():
            raise DataError(
                f"--root {name}={folder} names no folder; expected for example --root notes=/home/me/notes."
            )
        if "/" in name or name != name.strip() or not name.isprintable():
            raise ConfigError(f"{name!a} is no name of a root; expected a word, as in --root notes=/home/me/notes.")
        return self._with(Root(name or folder.name or _NAMELESS, folder, f"{name}/" if name else ""))

    def _with(self, root: Root) -> Self:
        if twin := next((each for each in self.roots if each.folder == root.folder and each.name != root.name), None):
            raise DataError(
                f"'{root.folder}' is known as '{twin.name}', and its ids stay as they are; give it without "
                f"--root {root.name}=."
            )
        same = self.named(root.name)
        if same is not None:
            refuse_other_folder(same, root.folder)
            return self
        if clash := next((each for each in self.roots if each.prefix == root.prefix), None):
            raise DataError(
                f"The ids of '{root.folder}' would begin as those of '{clash.folder}'; "
                f"give one of them a name, as in --root NAME={root.folder}."
            )
        return replace(self, roots=tuple(sorted([*self.roots, root], key=_depth, reverse=True)))


def refuse_other_folder(known: Root, folder: Path) -> None:
    if known.folder != folder:
        raise DataError(
            f"'{folder}' would be called '{known.name}' like '{known.folder}'; name it with --root OTHER={folder}, or, "
            "if the folder that the index knows has moved there, give --moved."
        )


def whole_path(place: Path) -> Path:
    """Absolute and without links, except for the last name of a file: a link to a file is known by its own name."""
    return place.resolve() if place.is_dir() else place.parent.resolve() / place.name


def parse_named(options: Iterable[str]) -> dict[str, Path]:
    """Names of roots as they are given at the command line: NAME=FOLDER."""
    named: dict[str, Path] = {}
    for option in options:
        name, equals, folder = option.partition("=")
        if not equals or not folder:
            raise ConfigError(
                f"--root {option} is not of the form NAME=FOLDER; expected for example notes=/home/me/notes."
            )
        if name in named:
            raise ConfigError(f"--root names '{name}' twice; give every folder a name of its own.")
        named[name] = Path(folder)
    return named


def _container(place: Path) -> Path:
    whole = whole_path(place)
    return whole if place.is_dir() else whole.parent


def _is_inside(folder: Path, others: Iterable[Path]) -> bool:
    return any(other != folder and folder.is_relative_to(other) for other in others)


def _depth(root: Root) -> int:
    return len(root.folder.parts)
