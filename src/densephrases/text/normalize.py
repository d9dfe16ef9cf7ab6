"""Answer normalization as in the official SQuAD evaluation: equal results mean equal answers."""

import re
import string
from functools import lru_cache

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@lru_cache(1 << 12)  # a search normalizes the same phrases to choose and to rank them
def normalize_answer(text: str) -> str:
    """Lower case, without punctuation, articles and extra space."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())
