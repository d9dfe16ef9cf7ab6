"""The question generator: a Hugging Face language model that writes a question for a marked answer in a passage.

Shape suffixes: Q questions, P tokens of a prompt, K tokens of a question, V vocabulary size, S steps.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    GenerationConfig,
    LogitsProcessorList,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

from densephrases.atomic_files import replace_file
from densephrases.errors import ConfigError, ModelError, first_line
from densephrases.model.folders import writable_folder
from densephrases.model.padding import batches_by_length, pad_rows
from densephrases.model.prompts import QUESTION_END, TAGS, GeneratorConfig, Prompts
from densephrases.model.tokenizer import TOKENIZER_FILE, Ids, load_tokenizer
from densephrases.nn.backbone import read_tokenizer, refuse_missing_folder
from densephrases.nn.device import inference

logger = logging.getLogger(__name__)

_TAKE_WHOLE_MASKS = ("llama",)  # full causal attention in every layer


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """How the tokens of a question are chosen.

    Attributes:
        beams: Width of beam search; 1 is greedy decoding.
        sample: Sample tokens by their probabilities instead; needs beams=1.
        temperature: Values below 1 favour likely tokens.
        top_p: Sample among the likeliest tokens that together have this probability.
        seed: Seed of the samples, together with the number of a row.
    """

    beams: int = 1
    sample: bool = False
    temperature: float = 1.0
    top_p: float = 0.9
    seed: int = 42

    def __post_init__(self) -> None:
        if self.beams < 1 or (self.sample and self.beams > 1):
            raise ConfigError(f"beams={self.beams} with sample={self.sample}: expected beams >= 1, and 1 to sample.")
        if self.temperature <= 0 or not 0 < self.top_p <= 1:
            raise ConfigError(
                f"temperature={self.temperature} and top_p={self.top_p}: expected temperature > 0 and 0 < top_p <= 1."
            )


class QuestionGenerator(nn.Module):
    def __init__(self, network: Any, tokenizer: Tokenizer, config: GeneratorConfig) -> None:
        super().__init__()
        self.config = config
        self.prompts = Prompts(tokenizer, config)
        self.network = network
        self.network.generation_config = _generation()  # not the base model's sampling settings
        self.writes_apart = bool(network.config.is_encoder_decoder)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def forward(self, prompt_QP: Tensor, prompt_mask_QP: Tensor, question_QK: Tensor, mask_QK: Tensor) -> Tensor:
        """The logits (Q, K, V) of each token of the question, given the prompt and the tokens before it."""
        if self.writes_apart:
            shifted_QK = question_QK.roll(1, dims=1)
            shifted_QK[:, 0] = self.network.config.decoder_start_token_id
            logits_QKV: Tensor = self.network(
                input_ids=prompt_QP, attention_mask=prompt_mask_QP, decoder_input_ids=shifted_QK, use_cache=False
            ).logits
            return logits_QKV
        mask_QT = torch.cat([prompt_mask_QP, mask_QK], dim=1)
        logits_QTV: Tensor = self.network(
            input_ids=torch.cat([prompt_QP, question_QK], dim=1),
            attention_mask=self._mask(mask_QT),
            position_ids=(mask_QT.cumsum(dim=1) - 1).clamp_min(0),
            use_cache=False,
            logits_to_keep=question_QK.shape[1] + 1,  # those of the prompt are not needed
        ).logits
        return logits_QTV[:, :-1]

    def _mask(self, mask_QT: Tensor) -> Tensor:
        """A whole mask for families known to take it unchanged: the others read its values, which a GPU waits for."""
        if self.network.config.model_type not in _TAKE_WHOLE_MASKS:
            return mask_QT
        width = mask_QT.shape[1]
        causal_TT = torch.ones(width, width, dtype=torch.bool, device=mask_QT.device).tril()
        itself_TT = torch.eye(width, dtype=torch.bool, device=mask_QT.device)  # a fully masked row would be NaN
        return ((mask_QT.bool()[:, None, :] & causal_TT) | itself_TT)[:, None]

    @classmethod
    def from_base(cls, base: str | Path, **limits: Any) -> Self:
        network, tokenizer = load_network(base), read_tokenizer(base)
        config = GeneratorConfig(base=Path(base).name, **({"end": end_token(network, tokenizer)} | limits))
        spelled = {tag: tokenizer.encode(tag, add_special_tokens=False).ids for tag in TAGS}
        generator = cls(network, tokenizer, config)
        generator._add_tags(spelled)
        return generator

    @torch.no_grad()
    def _add_tags(self, spelled: dict[str, list[int]]) -> None:
        """Embeddings of the tags, each initialised as the mean of the word pieces that spell it."""
        if self.prompts.vocabulary > self.network.config.get_text_config().vocab_size:
            self.network.resize_token_embeddings(self.prompts.vocabulary, mean_resizing=False)
        for table in (self.network.get_input_embeddings(), self.network.get_output_embeddings()):
            for tag, pieces in spelled.items():
                if pieces:
                    table.weight[self.prompts.tags[tag]] = table.weight[pieces].mean(dim=0)

    def save_pretrained(self, folder: str | Path) -> None:
        path = writable_folder(Path(folder))
        self.network.save_pretrained(path)
        replace_file(path / TOKENIZER_FILE, self.prompts.tokenizer.to_str(pretty=True))
        self.config.save(path)  # last: its presence means the folder is complete

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Self:
        path = Path(folder)
        config = GeneratorConfig.load(path)
        return cls(load_network(path), load_tokenizer(path), config)

    def prompt_rows(self, prompts: Sequence[Ids], multiple: int = 1) -> tuple[Tensor, Tensor]:
        """Ids and mask; a causal model continues the row with the question, so its padding comes first."""
        ones = [np.ones_like(row) for row in prompts]
        ids, mask = (self._rows(rows, value, multiple) for rows, value in ((prompts, self.prompts.end_id), (ones, 0)))
        return ids, mask

    def _rows(self, rows: Sequence[Ids], value: int, multiple: int) -> Tensor:
        if self.writes_apart:
            return torch.from_numpy(pad_rows(rows, value, np.int64, multiple))
        return torch.from_numpy(pad_rows([row[::-1] for row in rows], value, np.int64, multiple)[:, ::-1].copy())

    def generate(
        self,
        prompts: Sequence[Ids],
        decoding: Decoding | None = None,
        numbers: Sequence[int] | None = None,
        tokens_per_batch: int = 65536,
    ) -> list[str | None]:
        """A question for each prompt; None if it did not end within the limit.

        Samples of a row depend on its number and the seed, not on the other rows of its batch.
        """
        decoding = decoding or Decoding()
        numbers = range(len(prompts)) if numbers is None else numbers
        results: list[str | None] = [None] * len(prompts)
        for rows in batches_by_length([len(prompt) for prompt in prompts], tokens_per_batch):
            written = self._write([prompts[i] for i in rows], decoding, [numbers[i] for i in rows])
            for i, ids in zip(rows, written, strict=True):
                results[i] = self.prompts.text(ids)
        return results

    def _write(self, prompts: Sequence[Ids], decoding: Decoding, numbers: Sequence[int]) -> list[list[int]]:
        device = self.device
        ids_QP, mask_QP = (rows.to(device) for rows in self.prompt_rows(prompts))
        steps, end = self.config.question_tokens, self.prompts.end_id
        settings = _generation(
            max_new_tokens=steps,
            num_beams=decoding.beams,
            do_sample=False,
            eos_token_id=end,
            pad_token_id=end,
            decoder_start_token_id=self.network.config.decoder_start_token_id if self.writes_apart else None,
        )
        processors = LogitsProcessorList()
        if decoding.sample:
            processors.append(RowSampling(decoding, numbers, steps, device))
        with inference(self, device):
            written = self.network.generate(
                input_ids=ids_QP, attention_mask=mask_QP, generation_config=settings, logits_processor=processors
            )
        begin = 1 if self.writes_apart else ids_QP.shape[1]
        rows: list[list[int]] = written[:, begin:].tolist()
        return rows


class RowSampling:
    """A logits processor that samples with random numbers of each row and leaves only the sampled token possible."""

    def __init__(self, decoding: Decoding, numbers: Sequence[int], steps: int, device: torch.device) -> None:
        self.decoding = decoding
        uniform_QS = np.stack([np.random.default_rng((decoding.seed, number)).random(steps) for number in numbers])
        self.uniform_QS = torch.from_numpy(uniform_QS).to(device)
        self.step = 0

    def __call__(self, ids: Tensor, scores_QV: Tensor) -> Tensor:
        chosen_Q = nucleus_sample(
            scores_QV / self.decoding.temperature, self.uniform_QS[:, self.step], self.decoding.top_p
        )
        self.step += 1
        return torch.full_like(scores_QV, -torch.inf).scatter(1, chosen_Q[:, None], 0.0)


def nucleus_sample(scores_QV: Tensor, uniform_Q: Tensor, top_p: float) -> Tensor:
    """The token at a uniform random number in the cumulative probability of the likeliest tokens."""
    likely_QV, order_QV = scores_QV.float().softmax(dim=-1).double().sort(dim=-1, descending=True, stable=True)
    before_QV = likely_QV.cumsum(dim=-1) - likely_QV
    kept_QV = likely_QV.masked_fill(before_QV >= top_p, 0.0)
    total_QV = kept_QV.cumsum(dim=-1)
    position_Q = (total_QV <= uniform_Q[:, None] * total_QV[:, -1:]).sum(dim=-1)
    return order_QV.gather(1, position_Q.clamp_max(scores_QV.shape[1] - 1)[:, None]).squeeze(1)


def _generation(**settings: Any) -> GenerationConfig:
    return GenerationConfig(**settings)  # type: ignore[no-untyped-call]


def end_token(network: Any, tokenizer: Tokenizer) -> str:
    """The base model's end-of-text token, else our tag: a model is slow to learn to write a new token."""
    known = network.config.get_text_config().eos_token_id
    first = known[0] if isinstance(known, list) else known
    found = None if first is None else tokenizer.id_to_token(first)
    if found is None:
        logger.info("The base model has no end-of-text token; questions end with the new token %s.", QUESTION_END)
    return QUESTION_END if found is None else found


def load_network(base: str | Path) -> Any:
    """The language model with its weights in float32."""
    refuse_missing_folder(base)
    try:
        config = AutoConfig.from_pretrained(str(base))
        if not config.is_encoder_decoder and config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
            raise ModelError(
                f"Base model '{base}' is of type '{config.model_type}', which cannot write; "
                "name a seq2seq model such as T5 or a causal one such as SmolLM2."
            )
        kind: Any = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
        return kind.from_pretrained(str(base), config=config, dtype=torch.float32)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"Base model '{base}' cannot be loaded as a language model: {first_line(error)}") from error
