"""The reading head's inputs and losses, against passages that are read one by one."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from densephrases.data.squad import QuestionedPassage
from densephrases.errors import ConfigError
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.towers import QuestionStates
from densephrases.train.phrases.batches import Padding, PhraseBatch, collate
from densephrases.train.phrases.examples import PassageExample
from densephrases.train.phrases.lexical_penalties import LexicalPenalties
from densephrases.train.phrases.reading_head import (
    ReadingLayout,
    ReadingPlan,
    on_passages,
    passage_bounds,
    reading_inputs,
    reading_losses,
)

PLAN = ReadingPlan(questions=3, passages=3)


@pytest.fixture(scope="module")
def model(tiny_model: PhraseModel) -> PhraseModel:
    torch.manual_seed(5)
    reader = PhraseModel(replace(tiny_model.config, reads=True), tiny_model.tokens.tokenizer)
    reader.load_state_dict(reader.state_dict() | tiny_model.state_dict())
    return reader.eval()


@pytest.fixture(scope="module", params=[Padding(), Padding(questions=20, passages=8, passage_tokens=32)])
def batch(
    request: pytest.FixtureRequest,
    model: PhraseModel,
    examples: Sequence[PassageExample],
    questioned: list[QuestionedPassage],
) -> PhraseBatch:
    penalties = LexicalPenalties.from_passages([p.passage for p in questioned], 1.5)
    return collate(examples, model.tokens.pad_id, None, request.param, 1.0, penalties, PLAN.questions)


@pytest.fixture(scope="module")
def states(model: PhraseModel, batch: PhraseBatch) -> tuple[Tensor, QuestionStates]:
    with torch.no_grad():
        vectors_PTD, _, questions, _ = model(batch.passages.arguments, [g.arguments for g in batch.questions])
    return vectors_PTD, questions


@pytest.fixture(scope="module")
def layout(batch: PhraseBatch, states: tuple[Tensor, QuestionStates], model: PhraseModel) -> ReadingLayout:
    before = len(model.tokens.specials.before)
    return ReadingLayout.most_confused(batch, passage_bounds(batch, *states), PLAN, before)


def rows_of(examples: Sequence[PassageExample], batch: PhraseBatch) -> list[np.ndarray]:
    """The ids of the question in each row: as `collate`, sorted by length after rows that repeat the first."""
    ids = sorted((q.ids for e in examples for q in e.questions), key=len)
    return [*[ids[0]] * (len(batch.owner_Q) - len(ids)), *ids]


def test_the_own_passage_and_the_most_confused_ones(
    batch: PhraseBatch, states: tuple[Tensor, QuestionStates], layout: ReadingLayout
) -> None:
    vectors_PTD, questions = states
    for question, passages in zip(layout.question_R.tolist(), layout.passage_RC.tolist(), strict=True):
        assert passages[0] == batch.owner_Q[question]
        assert len(set(passages)) == PLAN.passages
        bounds = []
        for row in range(len(vectors_PTD)):
            text_TD = vectors_PTD[row][batch.content_PT[row]]
            if len(text_TD):
                best = (text_TD @ questions.start_BD[question]).max() + (text_TD @ questions.end_BD[question]).max()
                bounds.append((float(best - batch.penalty_QP[question, row]), row))
        others = [row for _, row in sorted(bounds, reverse=True) if row != passages[0]]
        assert passages[1:] == others[: PLAN.passages - 1]


def test_inputs_and_logits_as_one_by_one(
    model: PhraseModel, batch: PhraseBatch, layout: ReadingLayout, examples: Sequence[PassageExample]
) -> None:
    inputs = reading_inputs(batch, layout, model.tokens)
    asked = rows_of(examples, batch)
    with torch.no_grad():
        logits_2RCT = on_passages(model.reading_states(*inputs), batch, layout)
    for r, question in enumerate(layout.question_R.tolist()):
        for c, passage in enumerate(layout.passage_RC[r].tolist()):
            original = examples[passage].window
            window = model.tokens.reading_window(asked[question], original)
            row, length = r * PLAN.passages + c, len(window.ids)
            assert inputs[0][row, :length].tolist() == window.ids.tolist()
            assert inputs[1][row, :length].tolist() == window.types.tolist()
            assert inputs[2][row].tolist() == [1] * length + [0] * (inputs[2].shape[1] - length)
            alone = [torch.from_numpy(part)[None] for part in (window.ids, window.types, np.ones_like(window.ids))]
            with torch.no_grad():
                expected_T2 = model.reading_states(*alone)[0, window.first : window.first + window.stop - window.start]
            text = slice(original.first, original.first + original.stop - original.start)
            assert torch.allclose(logits_2RCT[:, r, c, text].T, expected_T2, atol=1e-5)
            assert (logits_2RCT[:, r, c] > -torch.inf).sum() == 2 * (original.stop - original.start)


def test_losses_are_normalised_over_all_passages_read(
    model: PhraseModel, batch: PhraseBatch, states: tuple[Tensor, QuestionStates], layout: ReadingLayout
) -> None:
    with torch.no_grad():
        logits_NW2 = model.reading_states(*reading_inputs(batch, layout, model.tokens))
        losses = reading_losses(batch, *states, logits_NW2, layout, "student_teacher")
    logits_2RCT = on_passages(logits_NW2, batch, layout)
    expected = 0.0
    for r, question in enumerate(layout.question_R.tolist()):
        for side, columns_QK in enumerate((batch.starts_QK, batch.ends_QK)):
            gold = [column for column in columns_QK[question].tolist() if column >= 0]
            logits_CT = logits_2RCT[side, r].clone()
            for other in (batch.answer_Q == batch.answer_Q[question]).nonzero().flatten().tolist():
                right = [column for column in columns_QK[other].tolist() if column >= 0]
                logits_CT[(layout.passage_RC[r] == batch.owner_Q[other]).nonzero(), right] = -torch.inf
            logits_CT[0, gold] = logits_2RCT[side, r, 0, gold]  # what is right elsewhere is no negative
            probabilities = logits_CT.flatten().softmax(-1).reshape(PLAN.passages, -1)
            expected -= float(probabilities[0, gold].sum().log()) / 2
    total = float(batch.weight_Q.sum())
    assert losses["reading"] == pytest.approx(expected * total / PLAN.questions, rel=1e-4)
    assert losses["across"] > 0
    assert "reading_distill" not in losses


def test_a_phrase_model_that_agrees_has_nothing_to_learn(
    batch: PhraseBatch, states: tuple[Tensor, QuestionStates], layout: ReadingLayout
) -> None:
    """Logits that equal the penalised phrase scores make the divergence across passages vanish."""
    vectors_PTD, questions = states
    count, each = layout.passage_RC.shape
    width = batch.passages.ids.shape[1] + max(group.ids.shape[1] for group in batch.questions)
    logits_NW2 = torch.zeros(count * each, width, 2)
    for r, question in enumerate(layout.question_R.tolist()):
        for c, passage in enumerate(layout.passage_RC[r].tolist()):
            for side, vector_D in enumerate((questions.start_BD[question], questions.end_BD[question])):
                scores_T = vectors_PTD[passage] @ vector_D - batch.penalty_QP[question, passage] / 2
                shift = int(layout.shift_R[r])
                logits_NW2[r * each + c, shift : shift + len(scores_T), side] = scores_T
    losses = reading_losses(batch, vectors_PTD, questions, logits_NW2, layout, "teacher_student")
    assert float(losses["across"]) == pytest.approx(0.0, abs=1e-2)


@pytest.mark.parametrize("padding", [Padding(), Padding(questions=20, passages=8, passage_tokens=32)])
def test_every_passage_has_its_answer_or_none(
    model: PhraseModel, examples: Sequence[PassageExample], padding: Padding
) -> None:
    """The null loss by hand: of questions that their passage answers, and of one that it does not."""
    plan = ReadingPlan(questions=3, passages=3, unanswerable=2)
    unanswerable = replace(examples[2].questions[0], spans=(), answer=10_000)
    asked = [*examples[:2], replace(examples[2], unanswerable=(unanswerable,)), *examples[3:]]
    batch = collate(asked, model.tokens.pad_id, None, padding, 1.0, None, plan.questions, plan.unanswerable)
    rows = batch.read_R.tolist()
    assert len(rows) == 5
    assert batch.unanswerable_Q[rows].tolist() == [0, 0, 0, 1, 0]
    assert batch.weight_Q[rows].tolist() == [1, 1, 1, 0, 0], "the last row fills up"
    with torch.no_grad():
        vectors_PTD, _, questions, _ = model(batch.passages.arguments, [g.arguments for g in batch.questions])
        bounds_RP = passage_bounds(batch, vectors_PTD, questions)
        layout = ReadingLayout.most_confused(batch, bounds_RP, plan, len(model.tokens.specials.before))
        logits_NW2 = model.reading_states(*reading_inputs(batch, layout, model.tokens))
        losses = reading_losses(batch, vectors_PTD, questions, logits_NW2, layout, "student_teacher")
    logits_2RCT = on_passages(logits_NW2, batch, layout)
    expected = 0.0
    for r, row in enumerate(rows[:4]):
        for side, columns_QK in enumerate((batch.starts_QK, batch.ends_QK)):
            of_others = []
            for c, passage in enumerate(layout.passage_RC[r].tolist()):
                same = (batch.answer_Q == batch.answer_Q[row]) & (batch.owner_Q == passage)
                if c > 0 and same.any():
                    continue
                null = logits_NW2[3 * r + c, 0, side]
                scores_N = torch.cat([logits_2RCT[side, r, c], null[None]])
                gold = [column for column in columns_QK[row].tolist() if column >= 0] if c == 0 and r < 3 else [-1]
                loss = float(scores_N.logsumexp(0) - scores_N[gold].logsumexp(0))
                if c == 0:
                    expected += loss / 2
                else:
                    of_others.append(loss)
            expected += sum(of_others) / max(len(of_others), 1) / 2
    assert losses["null"] == pytest.approx(expected * float(batch.weight_Q.sum()) / 3, rel=1e-4)


def test_impossible_plans() -> None:
    with pytest.raises(ConfigError, match=r"reading\.unanswerable=3"):
        ReadingPlan(unanswerable=3)
    with pytest.raises(ConfigError, match=r"reading\.passages=0"):
        ReadingPlan(passages=0)
