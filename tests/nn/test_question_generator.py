"""The question generator: prompts to questions, the same whatever the batch."""

from pathlib import Path

import numpy as np
import pytest
import torch

from densephrases.errors import ConfigError, ModelError
from densephrases.model.tokenizer import Ids
from densephrases.nn.question_generator import Decoding, QuestionGenerator, nucleus_sample
from densephrases.text.passages import Passage

from ..conftest import small_tokenizer

TEXTS = ["the tower of paris was built in 1889 by a man", "london is a city", "it was born in france in the year 12"]


@pytest.fixture(scope="module")
def generator(tiny_writer: Path) -> QuestionGenerator:
    torch.manual_seed(1)
    return QuestionGenerator.from_base(tiny_writer, context_tokens=12, title_tokens=2, question_tokens=6).eval()


@pytest.fixture(scope="module")
def prompts(generator: QuestionGenerator) -> list[Ids]:
    encoded = generator.prompts.passages([Passage(text, "a title") for text in TEXTS])
    made = [generator.prompts.prompt(passage, at, at + 1) for passage in encoded for at in (0, 2)]
    return [prompt for prompt in made if prompt is not None]


def test_logits_do_not_depend_on_the_filling(generator: QuestionGenerator, prompts: list[Ids]) -> None:
    questions = generator.prompts.questions(["who built it", "when"])
    alone = []
    with torch.no_grad():
        for prompt, question in zip(prompts, questions, strict=False):
            ids = torch.from_numpy(question)[None]
            alone.append(generator(*generator.prompt_rows([prompt]), ids, torch.ones_like(ids))[0])
        width = max(map(len, questions)) + 2
        rows = torch.full((2, width), generator.prompts.end_id)
        mask = torch.zeros(2, width, dtype=torch.long)
        for row, question in enumerate(questions):
            rows[row, : len(question)] = torch.from_numpy(question)
            mask[row, : len(question)] = 1
        together = generator(*generator.prompt_rows(prompts[:2], multiple=32), rows, mask)
    for row, expected in enumerate(alone):
        assert torch.allclose(together[row, : len(expected)], expected, atol=1e-4)


def test_the_best_word_is_the_one_of_the_largest_logit(generator: QuestionGenerator, prompts: list[Ids]) -> None:
    ids = generator._write(prompts[:1], Decoding(), [0])[0]
    question = torch.tensor([ids])
    with torch.no_grad():
        logits = generator(*generator.prompt_rows(prompts[:1]), question, torch.ones_like(question))
    assert logits[0].argmax(dim=-1).tolist()[: len(ids)] == ids


@pytest.mark.parametrize("decoding", [Decoding(), Decoding(beams=3), Decoding(sample=True, temperature=2.0)])
def test_questions_do_not_depend_on_the_batch(
    generator: QuestionGenerator, prompts: list[Ids], decoding: Decoding
) -> None:
    numbers = [11 * i for i in range(len(prompts))]
    together = generator.generate(prompts, decoding, numbers)
    backwards = generator.generate(prompts[::-1], decoding, numbers[::-1], tokens_per_batch=40)
    assert together == backwards[::-1]


def test_other_seeds_draw_other_words(generator: QuestionGenerator, prompts: list[Ids]) -> None:
    drawn = [
        generator._write(prompts, Decoding(sample=True, temperature=3.0, top_p=1.0, seed=s), range(len(prompts)))
        for s in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_draw() -> None:
    scores = torch.log(torch.tensor([[0.2, 0.5, 0.3]])).repeat(4, 1)
    uniform = torch.tensor([0.0, 0.49, 0.51, 0.99])
    assert nucleus_sample(scores, uniform, 1.0).tolist() == [1, 1, 2, 0]
    assert nucleus_sample(scores, uniform, 0.6).tolist() == [1, 1, 1, 2]
    assert nucleus_sample(scores, uniform, 0.1).tolist() == [1, 1, 1, 1]


def test_saved_and_loaded(generator: QuestionGenerator, prompts: list[Ids], tmp_path: Path) -> None:
    generator.save_pretrained(tmp_path)
    loaded = QuestionGenerator.from_pretrained(tmp_path).eval()
    assert loaded.config == generator.config
    assert loaded.prompts.tags == generator.prompts.tags
    expected = generator.state_dict()
    assert all(torch.equal(tensor, expected[name]) for name, tensor in loaded.state_dict().items())
    assert loaded._write(prompts, Decoding(), range(6)) == generator._write(prompts, Decoding(), range(6))


def test_the_end_is_the_one_the_base_knows(generator: QuestionGenerator) -> None:
    assert generator.config.end == "[SEP]"
    assert generator.prompts.questions(["who"])[0].tolist()[-1] == generator.prompts.end_id == 3


def test_tags_begin_as_what_spells_them(generator: QuestionGenerator, tiny_writer: Path) -> None:
    pieces = small_tokenizer().encode("<answer>", add_special_tokens=False).ids
    table = generator.network.get_input_embeddings().weight
    assert torch.allclose(table[generator.prompts.tags["<answer>"]], table[pieces].mean(dim=0), atol=1e-6)
    again = QuestionGenerator.from_base(tiny_writer, end="</question>")
    assert again.prompts.end_id == again.prompts.tags["</question>"]


def test_rows_are_filled_where_the_question_does_not_go_on(generator: QuestionGenerator) -> None:
    ids, mask = generator.prompt_rows([np.array([5, 6]), np.array([7])], multiple=4)
    end = generator.prompts.end_id
    if generator.writes_apart:
        assert (ids.tolist(), mask.tolist()) == ([[5, 6, end, end], [7, end, end, end]], [[1, 1, 0, 0], [1, 0, 0, 0]])
    else:
        assert (ids.tolist(), mask.tolist()) == ([[end, end, 5, 6], [end, end, end, 7]], [[0, 0, 1, 1], [0, 0, 0, 1]])


def test_unusable_bases(tiny_base: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="of type 'bert', which cannot write"):
        QuestionGenerator.from_base(tiny_base)
    with pytest.raises(ModelError, match="does not exist"):
        QuestionGenerator.from_base(tmp_path / "nothing")


@pytest.mark.parametrize("settings", [{"beams": 0}, {"beams": 2, "sample": True}, {"temperature": 0.0}, {"top_p": 1.5}])
def test_impossible_decoding(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=str(next(iter(settings)))):
        Decoding(**settings)  # type: ignore[arg-type]
