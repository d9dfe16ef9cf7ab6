"""The round-trip filter keeps a question if a reader answers it with the intended answer.

The questions are generated from their answers, or found a passage by distant supervision. A reader that abstains says
that the passage names the answer and does not give it: then the question stays, as one without an answer.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from densephrases.data.decontaminate import HeldOut, LeakReport
from densephrases.data.matching.em_f1 import best_over_answers, exact_match, f1
from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage, read_squad, write_squad
from densephrases.errors import ConfigError, DataError
from densephrases.evaluate.reading import Prediction
from densephrases.nn.device import best_device, placed
from densephrases.nn.reader import Reader
from densephrases.text.normalize import normalize_answer
from densephrases.train.reader import reader_predictions

PASSAGES_AT_ONCE = 512

UNTYPED = "annotated"  # reported type of questions written by people


@dataclass(slots=True)
class FilterReport:
    """Numbers of questions that were read and that passed, by type of answer.

    Attributes:
        negatives: Passages that stay without a question.
        unanswerable: Questions that stay without an answer.
    """

    read: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    negatives: int = 0
    unanswerable: int = 0
    leaks: LeakReport = field(default_factory=LeakReport)

    def rows(self) -> list[tuple[str, int, int]]:
        """Type, read and passed: most frequent type first, the total last."""
        types = [(name, count, self.passed[name]) for name, count in self.read.most_common()]
        return [*types, ("all", self.read.total(), self.passed.total())]


def filter_questions(
    path: Path,
    reader: Path,
    out: Path,
    min_f1: float | None = None,
    exclude: Sequence[Path] = (),
    cpu: bool = False,
    advance: Callable[[int], None] = lambda _: None,
    per_question: int | None = None,
) -> FilterReport:
    """Writes the questions that pass as SQuAD JSON: with an exact match or, if given, a minimum F1.

    Of a question with several passages at most `per_question` stay: those where the reader is surest.
    """
    if min_f1 is not None and not 0 < min_f1 <= 1:
        raise ConfigError(f"f1={min_f1} is not a threshold; expected a number above 0 and up to 1.")
    if per_question is not None and per_question < 1:
        raise ConfigError(f"per_question={per_question} is too small; expected at least 1.")
    report = FilterReport()
    passages = _admitted(read_squad(path), HeldOut.read(exclude), report.leaks)
    model = placed(Reader.from_pretrained(reader), best_device(cpu))
    predictions: list[Prediction] = []
    for at in range(0, len(passages), PASSAGES_AT_ONCE):
        group = passages[at : at + PASSAGES_AT_ONCE]
        predictions += (replace(p, passage=at + p.passage) for p in reader_predictions(model, group, abstains=True))
        advance(len(group))
    kept = passing(passages, predictions, min_f1, report, per_question)
    if not report.passed.total():
        raise DataError(f"No question of '{path}' passes the filter; check its questions and the reader.")
    rule = "exact match" if min_f1 is None else f"F1 of at least {min_f1}"
    write_squad(out, kept, {"filter": rule, "reader": model.config.base, "excluded": [p.name for p in exclude]})
    return report


def _admitted(passages: Iterable[QuestionedPassage], held_out: HeldOut, leaks: LeakReport) -> list[QuestionedPassage]:
    """Without passages that are held out, and without questions of people that are."""
    return [
        replace(p, questions=tuple(q for q in p.questions if q.generated or held_out.admits_question(q.text, leaks)))
        for p in passages
        if held_out.admits(p.passage, leaks)
    ]


def passing(
    passages: Sequence[QuestionedPassage],
    predictions: Sequence[Prediction],
    min_f1: float | None,
    report: FilterReport,
    per_question: int | None = None,
) -> list[QuestionedPassage]:
    """The passages with the questions whose predicted answer matches.

    A passage of which none is left stays if it had no question, or one that was not generated and failed: it is a
    hard negative. A passage that another one replaces, because of `per_question`, may well answer its question. What
    people ask and the reader does not answer stays as a question without an answer.
    """
    right = [prediction for prediction in predictions if matches(prediction, min_f1)]
    confirmed = {_key(p): confirmed_question(p) for p in surest(right, per_question)}
    replaced = {_key(p) for p in right} - set(confirmed)
    abstained = {_key(p) for p in predictions if not p.answer and not p.question.generated}
    result = []
    for number, passage in enumerate(passages):
        asked = passage.questions
        report.read.update(q.answer_type or UNTYPED for q in asked)
        questions = tuple(confirmed[number, q.id] for q in asked if (number, q.id) in confirmed)
        report.passed.update(q.answer_type or UNTYPED for q in questions)
        without = tuple(
            replace(q, answers=(), aliases=()) for q in asked if not q.answers or (number, q.id) in abstained
        )
        report.unanswerable += len(without)
        is_negative = not asked or any(not q.generated for q in asked)
        if questions or (is_negative and not any((number, q.id) in replaced for q in asked)):
            result.append(replace(passage, questions=questions + without))
            report.negatives += not questions + without
    return result


def _key(prediction: Prediction) -> tuple[int, str]:
    return prediction.passage, prediction.question.id


def surest(predictions: Sequence[Prediction], per_question: int | None) -> list[Prediction]:
    """Of each question's predictions those with the highest scores, up to the limit."""
    if per_question is None:
        return list(predictions)
    taken: Counter[str] = Counter()
    result = []
    for prediction in sorted(predictions, key=lambda p: -p.score):
        taken[prediction.question.text] += 1
        if taken[prediction.question.text] <= per_question:
            result.append(prediction)
    return result


def matches(prediction: Prediction, min_f1: float | None) -> bool:
    if min_f1 is None:
        return best_over_answers(exact_match, prediction.answer, prediction.question.gold_texts) == 1
    return best_over_answers(f1, prediction.answer, prediction.question.gold_texts) >= min_f1


def confirmed_question(prediction: Prediction) -> Question:
    """The question with its answer where the reader found it, unless it was generated or its place is certain."""
    question, form = prediction.question, normalize_answer(prediction.answer)
    located = [answer for answer in question.answers if normalize_answer(answer.text) == form]
    is_alias = not located and form in map(normalize_answer, question.aliases)
    if question.generated or not (is_alias or any(answer.ambiguous for answer in located)):
        return question
    others = dict.fromkeys(gold for gold in question.gold_texts if normalize_answer(gold) != form)
    answer = prediction.answer.lstrip()  # some tokenizers put the space before a word into its token
    place = GoldAnswer(answer.rstrip(), prediction.start + len(prediction.answer) - len(answer))
    return replace(question, answers=(place,), aliases=tuple(others))
