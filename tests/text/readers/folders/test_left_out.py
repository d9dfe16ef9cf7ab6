"""Which files of folders are documents."""

from pathlib import Path

import pytest

from densephrases.text.readers.folders.left_out import Selection


def left_out(folder: Path, **options: object) -> dict[str, str]:
    selection = Selection(**options)  # type: ignore[arg-type]
    found = ((path, path.relative_to(folder).as_posix()) for path in sorted(folder.rglob("*")))
    kinds = {below: selection.left_out(path, below, path.is_dir()) for path, below in found}
    return {below: kind for below, kind in kinds.items() if kind is not None}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in (
        *("README.md", "a.PY", "notes.txt", "data.csv", "page.html", "Makefile", "x.lock", "package-lock.json"),
        *("docs/build/guide.md", "build/out.txt", "venv/pyvenv.cfg", "cache/CACHEDIR.TAG", ".hidden", "conf.yaml"),
        *("package.json", "node_modules/a/README.md", "src/__pycache__/a.txt", "LICENSE"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def test_by_default(project: Path) -> None:
    """A folder `build` is an output only beside the files of a project."""
    assert left_out(project) == {
        ".hidden": "hidden",
        "Makefile": "configuration",
        "a.PY": "source code",
        "build": "build outputs",
        "cache": "caches",
        "conf.yaml": "configuration",
        "node_modules": "dependencies",
        "package-lock.json": "lock files",
        "package.json": "configuration",
        "src/__pycache__": "caches",
        "venv": "dependencies",
        "venv/pyvenv.cfg": "configuration",
        "x.lock": "lock files",
    }


def test_what_is_asked_for(project: Path) -> None:
    assert left_out(project, all_files=True) == {}
    assert "a.PY" not in left_out(project, include=("*.PY",))
    assert "src/__pycache__" not in left_out(project, include=("src/*",))
    assert "node_modules" not in left_out(project, include=("node_modules/",))
    assert left_out(project, all_files=True, exclude=("*.txt", "docs")) == {
        "build/out.txt": "excluded",
        "docs": "excluded",
        "notes.txt": "excluded",
        "src/__pycache__/a.txt": "excluded",
    }
