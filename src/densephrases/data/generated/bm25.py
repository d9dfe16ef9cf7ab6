"""Passages that are searched by BM25, in a folder: what was indexed once is opened again."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from densephrases.arrays import Floats, Ints
from densephrases.data.generated.source_passages import SourcePassage
from densephrases.errors import DataError, MissingExtraError
from densephrases.json_input import parse_json
from densephrases.text.passages import Passage

PASSAGES_FILE = "passages.jsonl"
PASSAGES_AT_ONCE = 4096
BLOCK = 256  # scores
# Common in text but not about anything: leaving them out nearly halves the work.
QUESTION_WORDS = ("what", "who", "whom", "whose", "which", "when", "where", "why", "how", "did", "do", "does", "many")


def require_bm25() -> None:
    if missing := [name for name in ("bm25s", "Stemmer") if find_spec(name) is None]:
        raise MissingExtraError(
            f"Finding passages needs {', '.join(missing)}; install them with: pip install 'densephrases[questions]'"
        )


class Bm25Passages(Sequence[SourcePassage]):
    """Terms of title and text, without English stop words, stemmed; Lucene's variant of BM25."""

    def __init__(self, folder: Path) -> None:
        require_bm25()
        import bm25s
        from bm25s.stopwords import STOPWORDS_EN

        index = bm25s.BM25.load(folder, show_progress=False)
        self._stop_words = [*STOPWORDS_EN, *QUESTION_WORDS]
        self._vocabulary: dict[str, int] = index.vocab_dict
        self._weights, self._owners, self._edges = (index.scores[name] for name in ("data", "indices", "indptr"))
        with (folder / PASSAGES_FILE).open("rb") as file:
            self._passages = [_passage(parse_json(line)) for line in file]

    @staticmethod
    def build(passages: Iterable[SourcePassage], folder: Path, advance: Callable[[int], None] = lambda _: None) -> None:
        """Writes passages and index into a folder that exists."""
        require_bm25()
        import bm25s

        texts = list(_written(passages, folder / PASSAGES_FILE, advance))
        index = bm25s.BM25()
        words = tokenized(texts, "en")
        if not words.vocab:
            raise DataError("The passages have no words to search for; expected English text.")
        index.index(words, show_progress=False)
        index.save(folder, show_progress=False)

    def __len__(self) -> int:
        return len(self._passages)

    def __getitem__(self, number: int) -> SourcePassage:  # type: ignore[override]
        return self._passages[number]

    def search(self, questions: Sequence[str], k: int) -> list[list[int]]:
        """The numbers of the best `k` passages for each question that share a term with it, best first."""
        words = tokenized(questions, self._stop_words, return_ids=False)
        return [best(self._scores(each), k).tolist() for each in words]

    def _scores(self, words: Sequence[str]) -> Floats:
        """Of all passages."""
        scores_P = np.zeros(len(self), dtype=np.float32)
        for term in {self._vocabulary[word]: None for word in words if word in self._vocabulary}:
            postings = slice(self._edges[term], self._edges[term + 1])
            scores_P[self._owners[postings]] += self._weights[postings]
        return scores_P


def tokenized(texts: Sequence[str], stop_words: str | list[str], return_ids: bool = True) -> Any:
    """The stems of each text: as numbers with their vocabulary, or as lists of strings."""
    import bm25s
    from Stemmer import Stemmer

    stemmer = Stemmer("english")
    return bm25s.tokenize(
        list(texts), stopwords=stop_words, stemmer=stemmer, return_ids=return_ids, show_progress=False
    )


def best(scores_P: Floats, k: int) -> Ints:
    """The numbers of the best `k` scores above 0, best first, the first of equal ones first.

    The k-th best maximum of blocks is at most the k-th best score: few scores are left to sort.
    """
    least = 0.0
    if len(scores_P) >= k * BLOCK:
        blocks = scores_P[: len(scores_P) // BLOCK * BLOCK].reshape(-1, BLOCK).max(axis=1)
        least = float(np.partition(blocks, -k)[-k])
    chosen = np.flatnonzero((scores_P >= least) if least > 0 else (scores_P > 0))
    return chosen[np.argsort(-scores_P[chosen], kind="stable")[:k]]


def searchable(passage: Passage) -> str:
    return f"{passage.title} {passage.text}" if passage.title else passage.text


def _written(passages: Iterable[SourcePassage], path: Path, advance: Callable[[int], None]) -> Iterator[str]:
    """What is to be searched, once it is written."""
    remaining = iter(passages)
    with path.open("w", encoding="utf-8") as file:
        while group := list(islice(remaining, PASSAGES_AT_ONCE)):
            file.write("".join(json.dumps(_record(source), ensure_ascii=False) + "\n" for source in group))
            yield from (searchable(source.passage) for source in group)
            advance(len(group))


def _record(source: SourcePassage) -> dict[str, Any]:
    passage = source.passage
    return {"id": source.id, "article": source.article, "title": passage.title, "text": passage.text}


def _passage(record: dict[str, Any]) -> SourcePassage:
    return SourcePassage(record["id"], Passage(record["text"], record["title"]), record["article"])
