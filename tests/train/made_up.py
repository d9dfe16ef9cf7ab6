"""Made-up examples and plans, for properties that hold for all of them."""

import numpy as np
from hypothesis import strategies as st

from densephrases.model.tokenizer import Window
from densephrases.train.phrases.examples import PassageExample, QuestionExample
from densephrases.train.phrases.sampling import BatchPlan


def window(length: int) -> Window:
    return Window(np.arange(length), np.zeros(length, dtype=np.int64), 0, 0, length, 0, length)


def example(number: int, article: int, questions: int, length: int) -> PassageExample:
    asked = [QuestionExample(f"{number}-{i}", np.zeros(3, np.int64), ((0, 0),), i) for i in range(questions)]
    return PassageExample(number, article, window(length), tuple(asked))


DATA = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 6), st.integers(1, 30)), min_size=1, max_size=25).map(
    lambda rows: [example(number, *row) for number, row in enumerate(sorted(rows, key=lambda row: row[0]))]
)
PLANS = st.builds(
    BatchPlan,
    questions=st.integers(1, 12),
    questions_per_passage=st.none() | st.integers(1, 4),
    passages_per_group=st.integers(1, 4),
)
