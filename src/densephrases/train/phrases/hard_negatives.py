"""Hard negatives: passages without the answer that a trained model ranks highest, found on the model's device."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from densephrases.data.matching.em_f1 import normalize_answer
from densephrases.data.squad import Question, QuestionedPassage
from densephrases.model.padding import batches_by_length, token_batch
from densephrases.model.tokenizer import TokenizedPassage, Window
from densephrases.nn.device import inference, to_device
from densephrases.nn.phrase_model import PhraseModel
from densephrases.text.hashed_terms import TERMS
from densephrases.train.phrases.lexical_penalties import NO_TERMS, LexicalPenalties, question_terms

HardNegatives = Sequence[Sequence[int]]
"""Numbers of other passages for each passage, hardest first."""

OVERSAMPLE = 4  # passages ranked per hard negative, since some of them contain the answer
QUESTIONS_PER_PASSAGE = 4  # that search for negatives of their passage; more find few others
TOKENS_PER_BATCH = 131072
SCORES_AT_ONCE = 1 << 28

# Shape suffixes: B questions, P passages, R rows (windows of passages), T tokens of a row, D vector size, V terms.


@dataclass(frozen=True)
class _Block:
    """Windows of similar length, encoded."""

    passage_R: Tensor
    vectors_RTD: Tensor
    content_RT: Tensor

    def bounds(self, start_BD: Tensor, end_BD: Tensor) -> Tensor:
        """(B, R): the best start plus the best end of each window."""
        return self._best(start_BD) + self._best(end_BD)

    def _best(self, vectors_BD: Tensor) -> Tensor:
        rows, width, _ = self.vectors_RTD.shape
        scores_BRT = (vectors_BD @ self.vectors_RTD.flatten(0, 1).T).reshape(len(vectors_BD), rows, width)
        return scores_BRT.masked_fill_(~self.content_RT, -torch.inf).amax(dim=-1).float()


class PassageRanking:
    """Ranks all passages for a question as search does, by a bound: best start plus best end, less the penalty."""

    def __init__(
        self, model: PhraseModel, tokenized: Sequence[TokenizedPassage], penalties: LexicalPenalties | None
    ) -> None:
        self.model = model
        self.device = next(model.parameters()).device
        self.dtype = torch.float16 if self.device.type == "cuda" else torch.float32
        self.passages = len(tokenized)
        self.penalties = penalties
        self._blocks = list(self._encode(tokenized))
        self._has_PV = None if penalties is None else self._term_matrix(penalties)

    def _encode(self, tokenized: Sequence[TokenizedPassage]) -> Iterator[_Block]:
        jobs = [(number, window) for number, passage in enumerate(tokenized) for window in passage.windows]
        for rows in batches_by_length([len(window.ids) for _, window in jobs], TOKENS_PER_BATCH):
            yield self._block([jobs[i] for i in rows])

    def _block(self, jobs: Sequence[tuple[int, Window]]) -> _Block:
        windows = [window for _, window in jobs]
        batch = token_batch([w.ids for w in windows], [w.types for w in windows], self.model.tokens.pad_id)
        with inference(self.model, self.device):
            vectors_RTD, _ = self.model.passage_states(*to_device(batch, self.device))
        column_T = np.arange(batch.ids.shape[1])
        content_RT = [(column_T >= w.first) & (column_T < w.first + w.stop - w.start) for w in windows]
        return _Block(
            torch.tensor([number for number, _ in jobs], device=self.device),
            vectors_RTD.to(self.dtype),
            torch.from_numpy(np.stack(content_RT)).to(self.device),
        )

    def _term_matrix(self, penalties: LexicalPenalties) -> Tensor:
        passage_N = np.repeat(np.arange(self.passages), [len(each) for each in penalties.terms])
        place_2N = torch.from_numpy(np.stack([passage_N, np.concatenate(penalties.terms)]).astype(np.int64))
        size, ones_N = (self.passages, TERMS), torch.ones(place_2N.shape[1])
        return torch.sparse_coo_tensor(place_2N, ones_N, size, check_invariants=True).coalesce().to(self.device)

    def bounds(self, questions: Sequence[str]) -> Tensor:
        """(B, P) for some questions."""
        start_BD, end_BD = self._question_vectors(questions)
        bounds_BP = torch.full((len(questions), self.passages), -torch.inf, device=self.device)
        for block in self._blocks:
            most = max(SCORES_AT_ONCE // block.content_RT.numel(), 1)
            firsts = range(0, len(questions), most)
            found_BR = torch.cat([block.bounds(start_BD[at : at + most], end_BD[at : at + most]) for at in firsts])
            bounds_BP.scatter_reduce_(1, block.passage_R.expand(len(questions), -1), found_BR, "amax")
        return bounds_BP - self._penalties(questions)

    def _question_vectors(self, questions: Sequence[str]) -> tuple[Tensor, Tensor]:
        ids = self.model.tokens.questions(questions)
        batch = token_batch(ids, [np.zeros_like(row) for row in ids], self.model.tokens.pad_id)
        with inference(self.model, self.device):
            states = self.model.question_states(*to_device(batch, self.device))
        return states.start_BD.to(self.dtype), states.end_BD.to(self.dtype)

    def _penalties(self, questions: Sequence[str]) -> Tensor:
        if self.penalties is None or self._has_PV is None:
            return torch.zeros(1, device=self.device)
        asked = list(map(question_terms, questions))
        term_W = np.concatenate([NO_TERMS, *asked]).astype(np.int64)
        row_W = np.repeat(np.arange(len(asked)), [len(each) for each in asked])
        place_2W = torch.from_numpy(np.stack([term_W, row_W])).to(self.device)
        weights_VB = torch.zeros((TERMS, len(questions)), device=self.device)
        weights_VB[place_2W[0], place_2W[1]] = torch.from_numpy(self.penalties.penalty_V[term_W]).to(self.device)
        return (weights_VB.sum(dim=0) - self._has_PV @ weights_VB).T


def hard_negative_passages(
    model: PhraseModel,
    passages: Sequence[QuestionedPassage],
    tokenized: Sequence[TokenizedPassage],
    count: int,
    penalties: LexicalPenalties | None = None,
    questions_at_once: int = 512,
) -> HardNegatives:
    """Up to `count` hard negatives for each passage: those that its questions rank highest, without their answer."""
    ranking = PassageRanking(model, tokenized, penalties)
    texts = [f" {normalize_answer(p.passage.text)} " for p in passages]
    asking = [(own, q) for own, p in enumerate(passages) for q in p.questions[:QUESTIONS_PER_PASSAGE] if q.answers]
    found: list[dict[int, float]] = [{} for _ in passages]
    for first in range(0, len(asking), questions_at_once):
        some = asking[first : first + questions_at_once]
        bounds_BP = ranking.bounds([question.text for _, question in some])
        top = bounds_BP.topk(min(count * OVERSAMPLE, len(passages)), dim=1)
        own_B1 = bounds_BP.gather(1, torch.tensor([[own] for own, _ in some], device=bounds_BP.device))
        rows = zip(some, top.indices.tolist(), (top.values - own_B1).tolist(), strict=True)
        for (own, question), numbers, margins in rows:
            for number, margin in _without_answer(question, own, texts, numbers, margins, count):
                found[own][number] = max(margin, found[own].get(number, margin))
    return [sorted(others, key=lambda n: (-others[n], n))[:count] for others in found]


def _without_answer(
    question: Question, own: int, texts: Sequence[str], numbers: Sequence[int], margins: Sequence[float], count: int
) -> list[tuple[int, float]]:
    """The first `count` of the ranked passages without the answer as whole words: those with it may be relevant."""
    answers = [f" {answer} " for answer in map(normalize_answer, question.gold_texts) if answer]
    kept = []
    for number, margin in zip(numbers, margins, strict=True):
        if number != own and not any(answer in texts[number] for answer in answers):
            kept.append((number, margin))
            if len(kept) == count:
                break
    return kept
