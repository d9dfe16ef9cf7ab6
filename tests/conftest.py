"""A random encoder small enough to train and export within a second, and a tokenizer for any ASCII text."""

import os
import string
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

if TYPE_CHECKING:
    from densephrases.nn.phrase_model import PhraseModel

settings.register_profile("unhurried", deadline=None)  # a busy machine is no reason to fail
settings.load_profile("unhurried")

os.environ["TRITON_INTERPRET"] = "1"  # kernels need no GPU then; read when Triton is imported, which torch may do

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = "the a of in and was is who what when where built tower river city born year paris london france by to it on"


@pytest.fixture(scope="session", autouse=True)
def unsynced() -> Iterator[None]:
    """Tests do not wait for the disk, milliseconds for each file; tests/faults/power_loss.py checks what is synced."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


def small_tokenizer() -> Tokenizer:
    characters = string.ascii_lowercase + string.digits + string.punctuation
    pieces = [*SPECIAL, *WORDS.split(), *(c for c in characters if c != "a"), *(f"##{c}" for c in characters)]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    return tokenizer


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return small_tokenizer()


@pytest.fixture(scope="session")
def tiny_base(tmp_path_factory: pytest.TempPathFactory, tokenizer: Tokenizer) -> Path:
    """A Hugging Face folder: a BERT of two layers with its tokenizer.json."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("base") / "tiny"
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        initializer_range=0.2,  # the usual 0.02 leaves nearly the same vector for every token
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="session", params=["causal", "seq2seq"])
def tiny_writer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, tokenizer: Tokenizer) -> Path:
    """A Hugging Face folder of a language model with two layers: a Llama, then a T5."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("writer") / str(request.param)
    words = tokenizer.get_vocab_size()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        if request.param == "causal":
            sizes = {"hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4}
            config = transformers.LlamaConfig(
                vocab_size=words,
                **sizes,
                num_key_value_heads=2,
                eos_token_id=3,
                tie_word_embeddings=True,
                initializer_range=0.1,
            )
            transformers.LlamaForCausalLM(config).save_pretrained(folder)
        else:
            sizes = {"d_model": 48, "d_kv": 12, "d_ff": 96, "num_layers": 2, "num_heads": 4}
            config = transformers.T5Config(
                vocab_size=words, **sizes, dropout_rate=0.0, decoder_start_token_id=0, pad_token_id=0, eos_token_id=3
            )
            transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="session")
def tiny_model(tiny_base: Path) -> "PhraseModel":
    """Shared by all tests: whoever changes its weights makes a model of its own from `tiny_base`."""
    from densephrases.nn.phrase_model import PhraseModel

    return PhraseModel.from_base(tiny_base)
