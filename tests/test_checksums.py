"""Checksums of model folders: what they list, what they refuse, and that a crash leaves a folder that loads."""

import subprocess
from pathlib import Path

import pytest

from densephrases import atomic_files, checksums
from densephrases.checksums import (
    CHECKSUMS_FILE,
    read_verified,
    remove_checksums,
    replace_listed,
    unlist,
    verified_meanwhile,
    verify_file,
    write_checksums,
)
from densephrases.errors import ModelError
from densephrases.model.folders import BUNDLED_FOLDER, bundled_names

NAMES = ["README.md", "codebooks.npz", "config.json", "model.safetensors", "passage.int8.onnx", "weights.int8.bin"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (*NAMES, "log.txt", ".config.json.new"):
        (tmp_path / name).write_text(f"content of {name}")
    (tmp_path / "tasks").mkdir()
    write_checksums(tmp_path)
    return tmp_path


def listed(folder: Path) -> list[str]:
    return [line.split("  ")[1] for line in (folder / CHECKSUMS_FILE).read_text().splitlines()]


@pytest.mark.parametrize("name", bundled_names())
def test_bundled_models_are_as_listed(name: str) -> None:
    """After a change write them anew, as the docstring of `densephrases.checksums` says."""
    place = BUNDLED_FOLDER / name
    for path in place.iterdir():
        if path.name != CHECKSUMS_FILE:
            verify_file(path)
    assert listed(place) == sorted(path.name for path in place.iterdir() if path.name != CHECKSUMS_FILE)


def test_files_of_the_model_are_listed(folder: Path) -> None:
    assert listed(folder) == NAMES
    for name in NAMES:
        assert read_verified(folder / name) == f"content of {name}".encode()
        verify_file(folder / name)


def test_the_usual_command_reads_it(folder: Path) -> None:
    try:
        result = subprocess.run(["sha256sum", "-c", CHECKSUMS_FILE], cwd=folder, capture_output=True, text=True)  # noqa: S603, S607
    except FileNotFoundError:
        pytest.skip("there is no sha256sum")
    assert (result.returncode, len(result.stdout.splitlines())) == (0, len(NAMES))


def test_changed_files_are_refused(folder: Path) -> None:
    for name in NAMES:
        (folder / name).write_text(f"contents of {name}")
        for use in (read_verified, verify_file):
            with pytest.raises(ModelError, match=rf"{name}' is damaged .*SHA-256 differs.*copy the model folder again"):
                use(folder / name)


def test_files_that_are_not_listed_are_refused(folder: Path) -> None:
    with pytest.raises(ModelError, match=r"log.txt' is damaged .*SHA256SUMS lacks it"):
        verify_file(folder / "log.txt")
    (folder / CHECKSUMS_FILE).write_text("")
    with pytest.raises(ModelError, match="SHA256SUMS lacks it"):
        read_verified(folder / "config.json")


@pytest.mark.parametrize("text", ["no checksum", "0" * 64, f"{'0' * 63}g  config.json", "\xff\n", f"{'0' * 64}  "])
def test_lists_that_are_none_are_refused(folder: Path, text: str) -> None:
    (folder / CHECKSUMS_FILE).write_bytes(text.encode("latin-1"))
    with pytest.raises(ModelError, match=r"SHA256SUMS' is damaged: .* is no checksum"):
        read_verified(folder / "config.json")


def test_without_a_list_anything_is_taken(folder: Path) -> None:
    remove_checksums(folder)
    (folder / "config.json").write_text("other")
    verify_file(folder / "config.json")
    assert read_verified(folder / "config.json") == b"other"
    replace_listed(folder / "config.json", "third")
    assert not (folder / CHECKSUMS_FILE).exists()


def test_one_file_is_replaced_and_the_others_stay_as_listed(folder: Path) -> None:
    (folder / "README.md").write_text("edited by hand")
    replace_listed(folder / "config.json", "new")
    replace_listed(folder / "tokenizer.json", b"more")
    assert listed(folder) == sorted([*NAMES, "tokenizer.json"])
    assert (read_verified(folder / "config.json"), read_verified(folder / "tokenizer.json")) == (b"new", b"more")
    with pytest.raises(ModelError, match=r"README\.md"):
        verify_file(folder / "README.md")
    (folder / "codebooks.npz").unlink()
    unlist(folder / "codebooks.npz")
    assert "codebooks.npz" not in listed(folder)


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_killed_while_a_file_is_replaced(folder: Path, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder loads, with the former content or the new."""
    left = steps

    def replace_some(path: Path, content: bytes | str) -> None:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        original(path, content)

    original = atomic_files.replace_file
    monkeypatch.setattr(checksums, "replace_file", replace_some)
    with pytest.raises(KeyboardInterrupt):
        replace_listed(folder / "config.json", "new")
    monkeypatch.undo()
    assert read_verified(folder / "config.json") == (b"new" if steps == 2 else b"content of config.json")
    replace_listed(folder / "config.json", "newer")
    assert listed(folder) == NAMES


def test_damage_is_told_rather_than_what_it_led_to(folder: Path) -> None:
    path = folder / "weights.int8.bin"
    with verified_meanwhile(path):
        pass
    with pytest.raises(ZeroDivisionError), verified_meanwhile(path):
        raise ZeroDivisionError
    path.write_text("other")
    with pytest.raises(ModelError, match="weights"), verified_meanwhile(path):
        pass
    with pytest.raises(ModelError, match="weights"), verified_meanwhile(path):
        raise ZeroDivisionError
