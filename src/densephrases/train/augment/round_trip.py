"""The round-trip filter keeps a generated question if a reader answers it with the intended answer."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from densephrases.data.decontaminate import HeldOut, LeakReport
from densephrases.data.matching.em_f1 import best_over_answers, exact_match, f1
from densephrases.data.squad import QuestionedPassage, read_squad, write_squad
from densephrases.errors import ConfigError, DataError
from densephrases.evaluate.reading import Prediction
from densephrases.nn.device import best_device, placed
from densephrases.nn.reader import Reader
from densephrases.train.reader import reader_predictions

PASSAGES_AT_ONCE = 512

UNTYPED = "annotated"  # reported type of questions written by people


@dataclass(slots=True)
class FilterReport:
    """Numbers of questions that were read and that passed, by type of answer."""

    read: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
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
) -> FilterReport:
    """Writes the questions that pass as SQuAD JSON: with an exact match or, if given, a minimum F1."""
    if min_f1 is not None and not 0 < min_f1 <= 1:
        raise ConfigError(f"f1={min_f1} is not a threshold; expected a number above 0 and up to 1.")
    report = FilterReport()
    held_out = HeldOut.read(exclude)
    passages = [p for p in read_squad(path) if held_out.admits(p.passage, report.leaks)]
    model = placed(Reader.from_pretrained(reader), best_device(cpu))
    kept: list[QuestionedPassage] = []
    for at in range(0, len(passages), PASSAGES_AT_ONCE):
        group = passages[at : at + PASSAGES_AT_ONCE]
        kept += passing(group, reader_predictions(model, group), min_f1, report)
        advance(len(group))
    if not kept:
        raise DataError(f"No question of '{path}' passes the filter; check the generated questions and the reader.")
    rule = "exact match" if min_f1 is None else f"F1 of at least {min_f1}"
    write_squad(out, kept, {"filter": rule, "reader": model.config.base, "excluded": [p.name for p in exclude]})
    return report


def passing(
    passages: Sequence[QuestionedPassage],
    predictions: Sequence[Prediction],
    min_f1: float | None,
    report: FilterReport,
) -> list[QuestionedPassage]:
    """The passages with the questions whose predicted answer matches."""
    right = {(p.passage, p.question.id) for p in predictions if matches(p, min_f1)}
    result = []
    for number, passage in enumerate(passages):
        report.read.update(q.answer_type or UNTYPED for q in passage.questions)
        questions = tuple(q for q in passage.questions if (number, q.id) in right)
        report.passed.update(q.answer_type or UNTYPED for q in questions)
        if questions:
            result.append(replace(passage, questions=questions))
    return result


def matches(prediction: Prediction, min_f1: float | None) -> bool:
    if min_f1 is None:
        return best_over_answers(exact_match, prediction.answer, prediction.question.gold_texts) == 1
    return best_over_answers(f1, prediction.answer, prediction.question.gold_texts) >= min_f1
