"""The forward pass in ONNX Runtime, for which torch is not needed."""

import os
from collections.abc import Callable
from concurrent.futures import Future
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import Any, Self

import numpy as np
import onnxruntime

from densephrases.arrays import Floats
from densephrases.built_once import BuiltOnce
from densephrases.checksums import verified_meanwhile, verify_file
from densephrases.errors import ConfigError, ModelError, first_line
from densephrases.model.config import FINGERPRINT_DIGITS, ModelConfig
from densephrases.model.encoder import Encoder
from densephrases.model.padding import TokenBatch
from densephrases.model.precision import PRECISIONS, Precision
from densephrases.model.tasks import known_task_folder, task_config, task_names
from densephrases.model.tokenizer import Tokens
from densephrases.quantize.codebooks import ProductQuantizer

GRAPHS = ("passage", "question")  # of every model
PASSAGE_GRAPHS = ("passage", "reading")  # by the passage backbone; only models that read have the second

LOG_ERRORS = 3

# onnxruntime computes a sum and its norm by one operator that takes four times as long as two: a batch of 64 questions
# is encoded in 88% of the time without it.
_SLOWER_FUSIONS = ["SkipLayerNormFusion"]


def graph_file(kind: str, precision: str) -> str:
    return f"{kind}.{precision}.onnx"


def weights_file(precision: str) -> str:
    return f"weights.{precision}.bin"


# A query encoder that was fine-tuned from an int8 model cannot go back to int8: its weights start on the grid of int8
# values, and most updates are smaller than half a step of that grid, so rounding would undo them.
OWN_QUESTION_GRAPH = "question.fp16.onnx"
OWN_QUESTION_WEIGHTS = "question.fp16.bin"


def exported_precisions(folder: Path) -> list[Precision]:
    """The precisions of the folder's graphs, the default one first."""
    return [p for p in ("int8", "fp32") if any((folder / graph_file(kind, p)).exists() for kind in GRAPHS)]


class OnnxEncoder(Encoder):
    """An exported model on the CPU.

    Each graph is loaded on first use: searching never loads `passage`, and `reading` only if it verifies.
    """

    def __init__(
        self,
        config: ModelConfig,
        tokens: Tokens,
        folder: Path,
        precision: Precision,
        threads: int | None = None,
        task: str | None = None,
    ) -> None:
        super().__init__(config, tokens)
        self.folder = folder
        self.precision = precision
        self.threads = threads
        self.task = task
        self._reader = self  # whose reading graph is used: one for all tasks

    @classmethod
    def load(
        cls,
        folder: Path,
        precision: Precision | None = None,
        threads: int | None = None,
        task: str | None = None,
    ) -> Self:
        """The model of an exported folder.

        Args:
            folder: The model folder.
            precision: None takes int8 if the folder has it, else fp32.
            threads: Threads of one forward pass; None takes one for each core that the process may use.
            task: Name of a query encoder of the folder; None takes the default one.
        """
        if precision is not None and precision not in PRECISIONS:
            raise ConfigError(f"precision={precision!r} is unknown; expected one of {list(PRECISIONS)} or None.")
        if threads is not None and threads < 1:
            raise ConfigError(f"threads={threads} is not a positive number; None takes all cores.")
        config = ModelConfig.load(folder)
        chosen = precision or _best_precision(folder)
        _refuse_missing(folder, chosen, task, config.reads)
        asking = task_config(folder, task, config)
        return cls(asking, Tokens.load(folder, asking), folder, chosen, threads, task)

    @property
    def tasks(self) -> list[str]:
        return task_names(self.folder)

    @property
    def query_encoder(self) -> str:
        return self.task or ""

    def with_task(self, task: str | None) -> Self:
        if task == self.task:
            return self
        other = type(self).load(self.folder, self.precision, self.threads, task)
        other._reader = self._reader
        return other

    @property
    def fingerprint(self) -> str:
        """The configuration's; for older folders, whose configuration has none, a hash of the passage graph's files."""
        return self.config.fingerprint or self._files_hash

    @cached_property
    def _files_hash(self) -> str:
        digest = sha256()
        for name in (graph_file("passage", self.precision), weights_file(self.precision)):
            digest.update((self.folder / name).read_bytes())
        return digest.hexdigest()[:FINGERPRINT_DIGITS]

    @cached_property
    def product_quantizer(self) -> ProductQuantizer | None:
        return ProductQuantizer.read(self.folder, self.config.vector_size)

    def forward_passages(self, batch: TokenBatch) -> tuple[Floats, Floats]:
        vectors, filters = run_graph(self.passage_session, batch, ["vectors", "filter"])
        return vectors, filters

    def forward_questions(self, batch: TokenBatch) -> tuple[Floats, Floats, Floats | None]:
        if self.config.split:
            start, end, coherency = run_graph(self.question_session, batch, ["start", "end", "coherency"])
            return start, end, coherency
        start, end = run_graph(self.question_session, batch, ["start", "end"])
        return start, end, None

    def forward_reading(self, batch: TokenBatch) -> Floats:
        if not self.config.reads:
            return super().forward_reading(batch)  # which refuses
        return run_graph(self._reader._reading_session.result(), batch, ["logits"])[0]

    @cached_property
    def passage_session(self) -> Any:
        return self._session(self.passage_path, weights_file(self.precision), spins=True)

    @property
    def question_session(self) -> Any:
        return self._question_session.result()

    def open_ahead(self, reading: bool = False) -> None:
        _ = self._question_session
        if reading and self.config.reads:
            _ = self._reader._reading_session

    @BuiltOnce
    def _question_session(self) -> Future[Any]:
        """Loaded by a thread of its own, so that the caller can go on until its first question."""
        return _in_background(self._open_questions)

    def _open_questions(self) -> Any:
        path = self.question_path
        is_own = path.name == OWN_QUESTION_GRAPH
        return self._session(path, OWN_QUESTION_WEIGHTS if is_own else weights_file(self.precision))

    @BuiltOnce
    def _reading_session(self) -> Future[Any]:
        """Loaded like the query encoder, while the search for what is to be read goes on."""
        return _in_background(lambda: self._session(self.reading_path, weights_file(self.precision)))

    @property
    def passage_path(self) -> Path:
        return self.folder / graph_file("passage", self.precision)

    @property
    def reading_path(self) -> Path:
        return self.folder / graph_file("reading", self.precision)

    @property
    def question_path(self) -> Path:
        return _question_path(known_task_folder(self.folder, self.task), self.precision, self.task)

    def _session(self, path: Path, weights: str, *, spins: bool = False) -> Any:
        """One whose threads wait for the next batch by spinning, or leave the cores to the search meanwhile."""
        options = onnxruntime.SessionOptions()
        if not spins:
            options.add_session_config_entry("session.force_spinning_stop", "1")
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = LOG_ERRORS
        options.intra_op_num_threads = self.threads or _restricted_cores()
        verify_file(path)
        linked = _read_linked(path.with_name(weights), options)  # noqa: F841  (must live until the session is made)
        try:
            with verified_meanwhile(path.with_name(weights)):
                return onnxruntime.InferenceSession(
                    str(path), options, providers=["CPUExecutionProvider"], disabled_optimizers=_SLOWER_FUSIONS
                )
        except ModelError:
            raise
        except Exception as error:  # the library's exceptions have no base class of their own
            raise ModelError(
                f"'{path}' with its {weights} cannot be opened ({first_line(error)}); "
                "one of the two is truncated or of another export: copy the model folder again."
            ) from error


def _in_background(load: Callable[[], Any]) -> Future[Any]:
    opened: Future[Any] = Future()

    def run() -> None:
        try:
            opened.set_result(load())
        except BaseException as error:  # raised in the thread that uses the session
            opened.set_exception(error)

    Thread(target=run).start()
    return opened


def _restricted_cores() -> int:
    """The number of cores that the process may use, or 0 if it may use all: then onnxruntime chooses.

    onnxruntime ignores the processor affinity of the process.
    """
    if not hasattr(os, "sched_getaffinity"):
        return 0
    allowed = len(os.sched_getaffinity(0))
    return allowed if allowed < (os.cpu_count() or allowed) else 0


def _read_linked(weights: Path, options: Any) -> bytes:
    """The content of a linked weights file, as in the caches of model hubs.

    Newer versions of onnxruntime follow no link that leaves the folder.
    """
    if not (weights.is_symlink() and hasattr(options, "add_external_initializers_from_files_in_memory")):
        return b""
    content = weights.read_bytes()
    options.add_external_initializers_from_files_in_memory([weights.name], [content], [len(content)])
    return content


def _question_path(place: Path, precision: Precision, task: str | None) -> Path:
    """A query encoder that was trained on its own has one graph for all precisions of its model."""
    own = place / OWN_QUESTION_GRAPH
    return own if task is not None or own.is_file() else place / graph_file("question", precision)


def _best_precision(folder: Path) -> Precision:
    found = exported_precisions(folder)
    if not found:
        raise ModelError(
            f"Model folder '{folder}' has no ONNX files such as {graph_file('question', 'int8')}; "
            "export the model, or load it with PhraseModel.from_pretrained."
        )
    return found[0]


def _refuse_missing(folder: Path, precision: Precision, task: str | None, reads: bool) -> None:
    asking = known_task_folder(folder, task)
    files = [folder / graph_file("passage", precision), folder / weights_file(precision)]
    files.append(_question_path(asking, precision, task))
    if reads:
        files.append(folder / graph_file("reading", precision))
    if missing := [str(path.relative_to(folder)) for path in files if not path.is_file()]:
        raise ModelError(
            f"Model folder '{folder}' has no {', '.join(missing)}; copy the folder again "
            f"or export the model in precision {precision}."
        )


def run_graph(session: Any, batch: TokenBatch, outputs: list[str]) -> list[Floats]:
    """Run a graph on the inputs that it declares: encoders without token types have no input for them."""
    inputs = {"ids": batch.ids, "types": batch.types, "mask": batch.mask}
    feed = {declared.name: inputs[declared.name] for declared in session.get_inputs()}
    return [np.asarray(array, dtype=np.float32) for array in session.run(outputs, feed)]
