"""Recipes of phrase models: values that cannot work are refused before any data is read."""

from dataclasses import replace
from pathlib import Path

import pytest

from densephrases.errors import ConfigError
from densephrases.train.phrases.recipe import PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan

RECIPE = PhraseRecipe(base="tiny", train=(), dev=Path("dev"))


@pytest.mark.parametrize("dropout", [-0.1, 1.0])
def test_dropout_that_is_no_rate_is_refused(dropout: float) -> None:
    with pytest.raises(ConfigError, match=f"dropout={dropout} must be at least 0 and below 1"):
        replace(RECIPE, dropout=dropout)


@pytest.mark.parametrize("share", [-0.1, 2])
def test_a_share_of_generated_questions_is_from_0_to_1(share: float) -> None:
    with pytest.raises(ConfigError, match=f"generated_share={share} must be from 0 to 1"):
        replace(RECIPE, generated_share=share)


def test_hard_negatives_need_groups() -> None:
    with pytest.raises(ConfigError, match=r"set batches\.passages_per_group to 2 or more"):
        replace(RECIPE, hard_negatives_from=Path("model"))
    grouped = replace(RECIPE, hard_negatives_from=Path("model"), batches=BatchPlan(passages_per_group=2))
    assert grouped.hard_negatives_from == Path("model")


def test_generated_questions_end_where_annotated_ones_are_alone() -> None:
    recipe = replace(RECIPE, generated_share=0.5, annotated_from=2)
    assert [recipe.share(epoch) for epoch in range(4)] == [0.5, 0.5, 0.0, 0.0]
    assert replace(recipe, annotated_from=None).share(9) == 0.5
