"""The reader's logits: one for every token of a passage, from the window that owns the token."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from densephrases.errors import ModelError
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.reader import Reader

LONG = "the tower of paris was built in 1889 and the river is in the city of london by the year"
QUESTIONS = ["who built the tower?", "where is the river?"]


@pytest.fixture(scope="module")
def reader(tiny_base: Path) -> Reader:
    torch.manual_seed(0)
    return Reader.from_base(tiny_base, passage_tokens=24, overlap=4, title_tokens=2, question_tokens=8)


def test_windows_hold_the_question_and_own_each_token_once(reader: Reader) -> None:
    (question,) = reader.tokens.questions([QUESTIONS[0]])
    passage = list(range(10, 45))
    windows = reader.windows(question, passage)
    assert len(windows) > 2
    assert [i for w in windows for i in range(w.own_start, w.own_stop)] == list(range(len(passage)))
    for w in windows:
        assert len(w.ids) <= 24
        assert w.ids[: w.first].tolist() == question.tolist()  # [CLS] question [SEP]
        assert w.ids[w.first : -1].tolist() == passage[w.start : w.stop]
        assert w.types.tolist() == [0] * w.first + [1] * (len(w.ids) - w.first)


def test_logits_come_from_the_owning_window(reader: Reader) -> None:
    (read,) = reader.read([(LONG, QUESTIONS)])
    ids = reader.tokens.tokenizer.encode(LONG, add_special_tokens=False).ids
    assert read.logits_Q2T.shape == (2, 2, len(ids))
    assert len(read.offsets_T2) == len(read.max_span_T) == len(ids)
    reader.eval()
    for row, question in enumerate(reader.tokens.questions(QUESTIONS)):
        windows = reader.windows(question, ids)
        assert len(windows) > 1
        for w in windows:
            with torch.no_grad():
                inputs = (torch.from_numpy(array)[None] for array in (w.ids, w.types, np.ones_like(w.ids)))
                alone = reader(*inputs)[0].numpy()
            for token in range(w.own_start, w.own_stop):
                expected = alone[:, w.first + token - w.start]
                assert np.allclose(read.logits_Q2T[row, :, token], expected, atol=1e-5)


def test_passages_in_order_empty_and_unasked_included(reader: Reader) -> None:
    texts = ["the city", "", "paris", "a river in france"]
    reads = list(reader.read([(texts[0], QUESTIONS), (texts[1], QUESTIONS), (texts[2], []), (texts[3], QUESTIONS)]))
    assert [r.logits_Q2T.shape for r in reads] == [(2, 2, 2), (2, 2, 0), (0, 2, 1), (2, 2, 4)]
    (alone,) = reader.read([(texts[3], QUESTIONS)])
    assert np.allclose(reads[3].logits_Q2T, alone.logits_Q2T, atol=1e-5)


def test_saved_and_loaded_it_reads_the_same(reader: Reader, tmp_path: Path) -> None:
    reader.save_pretrained(tmp_path)
    loaded = Reader.from_pretrained(tmp_path)
    assert replace(loaded.config, backbone={}) == replace(reader.config, backbone={})
    (expected,), (found,) = (list(r.read([(LONG, QUESTIONS)])) for r in (reader, loaded))
    assert found.logits_Q2T.tolist() == expected.logits_Q2T.tolist()


def test_phrase_model_is_no_reader(tiny_model: PhraseModel, tmp_path: Path) -> None:
    tiny_model.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="of kind 'phrases', expected 'reader'"):
        Reader.from_pretrained(tmp_path)
