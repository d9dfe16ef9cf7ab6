"""Opening an exported folder: what is chosen, what is opened when, and what is said of a broken one."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from densephrases.checksums import CHECKSUMS_FILE, remove_checksums, write_checksums
from densephrases.errors import ConfigError, ModelError
from densephrases.model.onnx import OnnxEncoder
from densephrases.model.precision import Precision
from densephrases.nn.onnx.export import export_model
from densephrases.nn.phrase_model import PhraseModel
from densephrases.text.passages import Passage


@pytest.fixture(scope="module")
def exported(tiny_model: PhraseModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    export_model(tiny_model, folder)
    return folder


@pytest.fixture
def copy(exported: Path, tmp_path: Path) -> Path:
    """Without checksums, so that a broken file is opened."""
    shutil.copytree(exported, tmp_path / "copy")
    remove_checksums(tmp_path / "copy")
    return tmp_path / "copy"


def ask(folder: Path) -> Any:
    return OnnxEncoder.load(folder, threads=1).encode_questions(["who"])


def read(folder: Path) -> Any:
    return OnnxEncoder.load(folder, threads=1).encode_passages([Passage("the tower")])


def test_int8_is_preferred(exported: Path) -> None:
    assert OnnxEncoder.load(exported).precision == "int8"
    assert OnnxEncoder.load(exported, "fp32").precision == "fp32"


def test_fp32_is_taken_where_there_is_no_int8(copy: Path) -> None:
    for path in copy.glob("*int8*"):
        path.unlink()
    assert OnnxEncoder.load(copy).precision == "fp32"
    with pytest.raises(ModelError, match=r"passage\.int8\.onnx.*precision int8"):
        OnnxEncoder.load(copy, "int8")


def test_graphs_are_opened_when_needed(exported: Path) -> None:
    encoder = OnnxEncoder.load(exported, threads=1)
    encoder.encode_questions(["who built the tower"])
    assert "_question_session" in vars(encoder)
    assert "passage_session" not in vars(encoder)


def test_a_graph_opened_ahead_is_the_one_that_is_used(exported: Path) -> None:
    encoder = OnnxEncoder.load(exported, threads=1)
    encoder.open_ahead()
    opened = encoder.question_session
    encoder.encode_questions(["who built the tower"])
    assert encoder.question_session is opened


@pytest.fixture(scope="module")
def reading(tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reading")
    export_model(PhraseModel.from_base(tiny_base, reads=True), folder, ("int8",))
    return folder


def test_the_reading_graph_is_opened_by_the_first_who_reads_or_ahead(reading: Path) -> None:
    encoder = OnnxEncoder.load(reading, threads=1)
    encoder.open_ahead()
    encoder.encode_questions(["who"])
    assert "_reading_session" not in vars(encoder)
    (question,), (passage,) = encoder.tokens.questions(["who"]), encoder.tokens.passages([Passage("the tower")])
    (logits,) = encoder.read([(question, passage.windows[0])])
    assert logits.tokens_T2.shape == (2, 2)
    ahead = OnnxEncoder.load(reading, threads=1)
    ahead.open_ahead(reading=True)
    assert {"_question_session", "_reading_session"} <= vars(ahead).keys()


def test_threads_that_answer_do_not_spin_while_the_search_goes_on(reading: Path) -> None:
    encoder = OnnxEncoder.load(reading, threads=2)
    encoder.open_ahead(reading=True)
    assert stops_spinning(encoder.question_session)
    assert stops_spinning(encoder._reading_session.result())
    assert not stops_spinning(encoder.passage_session)


def stops_spinning(session: Any) -> bool:
    options = session.get_session_options()
    try:
        return bool(options.get_session_config_entry("session.force_spinning_stop") == "1")
    except RuntimeError:  # it has no such entry
        return False


def test_a_model_without_a_reading_graph_refuses_to_read(exported: Path) -> None:
    encoder = OnnxEncoder.load(exported, threads=1)
    encoder.open_ahead(reading=True)
    (question,), (passage,) = encoder.tokens.questions(["who"]), encoder.tokens.passages([Passage("the tower")])
    with pytest.raises(ModelError, match="does not read"):
        encoder.read([(question, passage.windows[0])])


def test_a_model_that_reads_needs_its_reading_graph(reading: Path, tmp_path: Path) -> None:
    shutil.copytree(reading, tmp_path / "copy")
    (tmp_path / "copy" / "reading.int8.onnx").unlink()
    with pytest.raises(ModelError, match=r"has no reading\.int8\.onnx; copy the folder again"):
        OnnxEncoder.load(tmp_path / "copy")


def test_what_fails_ahead_is_told_where_it_is_needed(copy: Path) -> None:
    encoder = OnnxEncoder.load(copy, threads=1)
    encoder.question_path.write_bytes(b"no graph")
    encoder.open_ahead()
    with pytest.raises(ModelError, match="cannot be opened"):
        encoder.encode_questions(["who built the tower"])


def test_nothing_in_nothing_out(exported: Path) -> None:
    encoder = OnnxEncoder.load(exported, threads=1)
    assert encoder.encode_passages([]) == []
    assert len(encoder.encode_questions([])) == 0
    assert encoder.encode_passages([Passage("")])[0].vectors_TD.shape == (0, 32)


def test_threads_do_not_change_vectors(exported: Path) -> None:
    one, two = (OnnxEncoder.load(exported, "fp32", threads=n).encode_questions(["who built the tower"]) for n in (1, 2))
    np.testing.assert_allclose(one.start_BD, two.start_BD, atol=1e-5)


def test_weights_behind_a_link(copy: Path, exported: Path, tmp_path: Path) -> None:
    """So folders look in the caches of model hubs."""
    write_checksums(copy)
    (tmp_path / "blobs").mkdir()
    for number, path in enumerate(sorted(copy.iterdir())):
        path.rename(tmp_path / "blobs" / str(number))
        path.symlink_to(tmp_path / "blobs" / str(number))
    assert np.array_equal(ask(copy).start_BD, ask(exported).start_BD)
    assert np.array_equal(read(copy)[0].vectors_TD, read(exported)[0].vectors_TD)


def test_bad_settings(exported: Path) -> None:
    with pytest.raises(ConfigError, match=r"'int4'.*'fp32', 'int8'"):
        OnnxEncoder.load(exported, "int4")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="threads=0"):
        OnnxEncoder.load(exported, threads=0)


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"'.*nowhere' does not exist"):
        OnnxEncoder.load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "name", ["config.json", "tokenizer.json", "passage.int8.onnx", "question.int8.onnx", "weights.int8.bin"]
)
def test_missing_file(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(ModelError, match=f"has no {name}"):
        OnnxEncoder.load(copy)


def test_folder_without_graphs(copy: Path) -> None:
    for path in copy.glob("*.onnx"):
        path.unlink()
    with pytest.raises(ModelError, match=r"no ONNX files.*from_pretrained"):
        OnnxEncoder.load(copy)


def test_other_schema_version(copy: Path) -> None:
    values = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(values | {"schema_version": 99}))
    with pytest.raises(ModelError, match="schema version 99"):
        OnnxEncoder.load(copy)


@pytest.mark.parametrize(("kind", "use"), [("question", ask), ("passage", read)])
@pytest.mark.parametrize("broken", [b"", b"not a graph", None], ids=["empty", "text", "truncated"])
def test_broken_graph(copy: Path, kind: str, use: Callable[[Path], Any], broken: bytes | None) -> None:
    path = copy / f"{kind}.int8.onnx"
    path.write_bytes(path.read_bytes()[:-100] if broken is None else broken)
    with pytest.raises(ModelError, match=rf"{kind}\.int8\.onnx.*copy the model folder again"):
        use(copy)


@pytest.mark.parametrize("use", [ask, read])
@pytest.mark.parametrize("kept", [0.0, 0.1])
def test_truncated_weights(copy: Path, use: Callable[[Path], Any], kept: float) -> None:
    path = copy / "weights.int8.bin"
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    with pytest.raises(ModelError, match=r"weights\.int8\.bin.*copy the model folder again"):
        use(copy)


@pytest.mark.parametrize("precision", ["int8", "fp32"])
@pytest.mark.parametrize("use", ["question", "passage"])
def test_one_flipped_bit_is_refused(copy: Path, precision: Precision, use: str) -> None:
    write_checksums(copy)
    for name in (f"{use}.{precision}.onnx", f"weights.{precision}.bin"):
        sound = (copy / name).read_bytes()
        for at in (0, len(sound) // 2, len(sound) - 1):
            (copy / name).write_bytes(sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :])
            encoder = OnnxEncoder.load(copy, precision, threads=1)
            with pytest.raises(ModelError, match=rf"{name}' is damaged or was changed: its SHA-256 differs"):
                encoder.encode_questions(["who"]) if use == "question" else encoder.encode_passages([Passage("it")])
        (copy / name).write_bytes(sound)
    assert ask(copy).start_BD.shape == (1, 32)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_changed_settings_are_refused(copy: Path, name: str) -> None:
    write_checksums(copy)
    (copy / name).write_bytes((copy / name).read_bytes() + b"\n")
    with pytest.raises(ModelError, match=rf"{name}' is damaged or was changed.*remove SHA256SUMS if you changed"):
        OnnxEncoder.load(copy)


def test_an_export_lists_its_files(exported: Path) -> None:
    listed = {line.split("  ")[1] for line in (exported / CHECKSUMS_FILE).read_text().splitlines()}
    assert listed == {path.name for path in exported.iterdir()} - {CHECKSUMS_FILE}
