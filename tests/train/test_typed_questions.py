"""Questions as people type them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from densephrases.train.typed_questions import key_words, typed_variants, with_typo

RNG = np.random.default_rng


def test_key_words_lack_what_people_leave_out() -> None:
    assert key_words("who wrote the origin of species") == "wrote origin species"
    assert key_words("what is it") == ""
    assert key_words("who is einstein") == ""


@given(st.text(max_size=60), st.integers(0, 100))
def test_a_typo_changes_one_word_by_a_letter(question: str, seed: int) -> None:
    typed = with_typo(question, RNG(seed))
    assert abs(len(typed) - len(question)) <= 1
    before, after = question.split(), typed.split()
    assert len(before) == len(after)
    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert len(changed) <= 1
    for a, b in changed:
        assert a[0] == b[0]
        assert a[-1] == b[-1]


def test_short_words_have_no_typo() -> None:
    assert with_typo("who is he", RNG(0)) == "who is he"


def test_variants_are_in_lower_case_and_others_than_the_question() -> None:
    for seed in range(20):
        variants = typed_variants("Where was Grace Hopper born?", RNG(seed))
        assert variants
        assert all(v == v.lower() and not v.endswith("?") for v in variants)
        assert "where was grace hopper born" not in variants
    assert typed_variants("Ada Lovelace [SEP] place of birth", RNG(0)) == ()
