"""Files in folders that are no documents: source code, dependencies, build outputs, configuration, hidden files."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

HIDDEN, EXCLUDED = "hidden", "excluded"
SOURCE, DEPENDENCIES, BUILD, CACHE = "source code", "dependencies", "build outputs", "caches"
LOCK, CONFIGURATION = "lock files", "configuration"

_SOURCE = frozenset(
    (
        *(".ada", ".asm", ".bash", ".bat", ".c", ".cc", ".cjs", ".clj", ".cljs", ".cmake", ".cmd", ".coffee"),
        *(".cpp", ".cs", ".csh", ".css", ".cu", ".cuh", ".cxx", ".d", ".dart", ".diff", ".el", ".erl", ".ex"),
        *(".exs", ".f", ".f90", ".fish", ".fs", ".fsx", ".glsl", ".go", ".gradle", ".groovy", ".h", ".hh"),
        *(".hpp", ".hs", ".hxx", ".java", ".jl", ".js", ".jsx", ".kt", ".kts", ".less", ".lisp", ".lua", ".m"),
        *(".map", ".mjs", ".ml", ".mli", ".mm", ".nim", ".pas", ".patch", ".php", ".pl", ".pm", ".proto"),
        *(".ps1", ".py", ".pyi", ".pyx", ".r", ".rb", ".rs", ".s", ".sass", ".scala", ".scm", ".scss", ".sh"),
        *(".sql", ".sv", ".svelte", ".swift", ".tcl", ".tf", ".ts", ".tsx", ".v", ".vb", ".vhd", ".vim", ".vue"),
        *(".wat", ".zig", ".zsh"),
    )
)
_CONFIGURATION = frozenset([".cfg", ".conf", ".ini", ".plist", ".properties", ".toml", ".yaml", ".yml"])
_CONFIGURATION_NAMES = frozenset(
    (
        *("cmakelists.txt", "containerfile", "dockerfile", "jenkinsfile"),
        *("makefile", "meson.build", "package.json", "tsconfig.json"),
    )
)
_LOCK = frozenset(["go.sum", "npm-shrinkwrap.json", "package-lock.json", "pnpm-lock.yaml"])
_DEPENDENCIES = frozenset(["bower_components", "node_modules", "site-packages"])
_CACHES = frozenset(["__pycache__"])
_BUILD = frozenset(["bin", "build", "dist", "obj", "out", "target"])  # where the folder around them is a project's
_PROJECT = (
    *("build.gradle", "build.gradle.kts", "build.xml", "Cargo.toml", "CMakeLists.txt", "go.mod", "Makefile"),
    *("meson.build", "package.json", "pom.xml", "pyproject.toml", "setup.cfg", "setup.py"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which files below folders are read; a file that is given itself always is.

    Attributes:
        include: Patterns of names, or of paths below the folder, that are read though they would be left out.
        exclude: Patterns of what is left out as well.
        all_files: Whether everything is read that is not excluded, hidden files as well.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    all_files: bool = False

    def left_out(self, path: Path, below: str, is_folder: bool) -> str | None:
        """In a word or two, why a file or folder is left out; `below` is its path below the folder."""
        if _matches(self.exclude, path.name, below):
            return EXCLUDED
        if self.all_files or _matches(self.include, path.name, below):
            return None
        if path.name.startswith("."):
            return HIDDEN
        return _folder_kind(path) if is_folder else _file_kind(path)


def _matches(patterns: tuple[str, ...], name: str, below: str) -> bool:
    """A pattern without a slash is that of a name; one with a slash is that of a path."""
    return any(fnmatchcase(below if "/" in each.rstrip("/") else name, each.rstrip("/")) for each in patterns)


def _file_kind(path: Path) -> str | None:
    name, suffix = path.name.lower(), path.suffix.lower()
    if name in _LOCK or suffix == ".lock":
        return LOCK
    if suffix in _SOURCE:
        return SOURCE
    return CONFIGURATION if suffix in _CONFIGURATION or name in _CONFIGURATION_NAMES else None


def _folder_kind(path: Path) -> str | None:
    if path.name in _DEPENDENCIES or (path / "pyvenv.cfg").is_file():
        return DEPENDENCIES
    if path.name in _CACHES or (path / "CACHEDIR.TAG").is_file():
        return CACHE
    if path.name in _BUILD and any((path.parent / name).is_file() for name in _PROJECT):
        return BUILD
    return None
