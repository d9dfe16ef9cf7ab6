"""Which passages a model confuses, against scores computed one by one."""

from pathlib import Path

import numpy as np
import pytest

from densephrases.data.matching.em_f1 import normalize_answer
from densephrases.data.squad import QuestionedPassage
from densephrases.nn.phrase_model import PhraseModel
from densephrases.train.phrases.hard_negatives import hard_negative_passages
from densephrases.train.phrases.lexical_penalties import LexicalPenalties, question_terms
from densephrases.train.phrases.sampling import BatchPlan
from densephrases.train.phrases.training_data import mine_hard_negatives


def brute_force(
    model: PhraseModel, passages: list[QuestionedPassage], count: int, penalties: LexicalPenalties | None = None
) -> list[list[int]]:
    encoder = model.encoder()
    vectors = [v.vectors_TD for v in encoder.encode_passages([p.passage for p in passages])]
    result = []
    for own, passage in enumerate(passages):
        margins: dict[int, float] = {}
        for question in passage.questions:
            asked = encoder.encode_questions([question.text])
            bounds = [float((v @ asked.start_BD[0]).max() + (v @ asked.end_BD[0]).max()) for v in vectors]
            if penalties is not None:
                paid = penalties.between([question_terms(question.text)], range(len(passages)))[0].tolist()
                bounds = [bound - penalty for bound, penalty in zip(bounds, paid, strict=True)]
            answer = f" {normalize_answer(question.gold_texts[0])} "
            for other, text in enumerate(normalize_answer(p.passage.text) for p in passages):
                if other != own and answer not in f" {text} ":
                    margins[other] = max(bounds[other] - bounds[own], margins.get(other, -np.inf))
        result.append(sorted(margins, key=lambda n: -margins[n])[:count])
    return result


@pytest.mark.parametrize("weight", [0.0, 2.0])
@pytest.mark.parametrize("count", [1, 3, 10])
def test_as_brute_force(
    tiny_model: PhraseModel, questioned: list[QuestionedPassage], count: int, weight: float
) -> None:
    passages = [p.passage for p in questioned]
    penalties = LexicalPenalties.from_passages(passages, weight) if weight else None
    tokenized = tiny_model.tokens.passages(passages)
    found = hard_negative_passages(tiny_model, questioned, tokenized, count, penalties, questions_at_once=3)
    everything = brute_force(tiny_model, questioned, len(questioned), penalties)
    for mine, theirs in zip(found, everything, strict=True):
        assert len(mine) <= count
        assert set(mine) <= set(theirs)
    if count == 10:
        assert [list(numbers) for numbers in found] == everything


def test_mined_from_a_model_folder(
    tiny_model: PhraseModel, questioned: list[QuestionedPassage], tmp_path: Path
) -> None:
    tiny_model.save_pretrained(tmp_path)
    found = mine_hard_negatives(tmp_path, BatchPlan(passages_per_group=2), questioned, cpu=True)
    assert [list(numbers) for numbers in found] == brute_force(tiny_model, questioned, 8)
