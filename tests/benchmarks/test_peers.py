"""The pure parts of the contest: who takes part, what is counted, which settings are chosen."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from densephrases.data.questions import OpenQuestion
from densephrases.data.squad import sample_path
from densephrases.errors import ConfigError, MissingExtraError
from densephrases.sample import SAMPLE_QUESTIONS, articles_path
from densephrases.text.passages import Passage

from .conftest import Importing


@pytest.fixture
def measures(benchmark_module: Importing) -> ModuleType:
    return benchmark_module("contest.measures")


@pytest.fixture
def contenders(benchmark_module: Importing) -> ModuleType:
    return benchmark_module("contest.contenders")


def asked(*answers: str) -> list[OpenQuestion]:
    return [OpenQuestion(str(number), f"question {number}", (answer,)) for number, answer in enumerate(answers)]


def test_percentiles_and_speed(measures: ModuleType) -> None:
    timed = measures.Timed(4, [0.1, 0.2, 0.3])
    assert timed.questions_per_second == pytest.approx(12 / 0.6)
    assert timed.milliseconds(50) == pytest.approx(200)
    assert timed.milliseconds(100) == pytest.approx(300)
    assert timed.to_dict()["calls"] == 3


def test_batches_are_full_and_more_than_are_excluded(measures: ModuleType) -> None:
    few = measures.whole_batches(["a", "b", "c"], 2, measures.Limits(excluded=2, questions=100))
    assert few == [["a", "b"], ["c", "a"], ["b", "c"]]
    many = measures.whole_batches([str(i) for i in range(10)], 2, measures.Limits(excluded=1, questions=7))
    assert many == [["0", "1"], ["2", "3"], ["4", "5"]]


def test_excluded_calls_are_made_and_not_counted(measures: ModuleType) -> None:
    recorded = measures.Recorded(lambda questions: [question.upper() for question in questions])
    (timed,) = measures.timed_calls([recorded], [["a"], ["b"], ["c"]], measures.Limits(excluded=2, questions=3))
    assert (recorded.answers, len(timed.seconds)) == (["A", "B", "C"], 1)


def test_a_measurement_ends_in_time_but_counts_something(measures: ModuleType) -> None:
    limits = measures.Limits(excluded=1, questions=9, seconds=0.0)
    (timed,) = measures.timed_calls([len], [["a"]] * 9, limits)
    assert len(timed.seconds) == 1


def test_exact_match_is_that_of_squad(measures: ModuleType) -> None:
    assert measures.exact_match_share(asked("the Tower", "1066"), ["tower.", "1067"]) == 50


def reading(contenders: ModuleType, answers: Sequence[tuple[str, float]], retrieval: Sequence[float]) -> Any:
    read = [contenders.ReadAnswer(text, score) for text, score in answers]
    return contenders.Reading(read, np.array(retrieval, dtype=np.float32))


def test_retrieval_counts_by_its_weight(contenders: ModuleType) -> None:
    both = reading(contenders, [("first", 5.0), ("second", 6.0)], [10.0, 8.0])
    assert contenders.Setting(2, 0.0).answer(both) == "second"
    assert contenders.Setting(2, 1.0).answer(both) == "first"
    assert contenders.Setting(1, 0.0).answer(both) == "first"


def test_the_best_weight_is_the_smallest_of_the_best(contenders: ModuleType) -> None:
    both = reading(contenders, [("first", 5.0), ("second", 6.0)], [10.0, 8.0])
    tuned = contenders.best_weight(asked("first"), [both], 2, 1.0)
    assert (tuned.setting, tuned.exact_match) == (contenders.Setting(2, 1.0), 100)
    assert contenders.best_weight(asked("second"), [both], 2, 1.0).setting.weight == 0


def test_the_best_setting_reads_the_fewest_passages(contenders: ModuleType) -> None:
    tuned = [contenders.Tuned(contenders.Setting(count, 0.0), em, 1.0) for count, em in ((1, 40), (5, 50), (10, 50))]
    assert contenders.best_setting(tuned).passages == 5


def test_questions_for_tuning_are_others(benchmark_module: Importing) -> None:
    corpus = benchmark_module("contest.corpus")
    questions = asked(*"abcdefghi")
    for measured, tuning, expected in ((4, 3, (4, 3)), (100, 100, (6, 3)), (7, 100, (6, 3)), (5, 100, (5, 4))):
        both = corpus.parted(questions, measured, tuning)
        assert (len(both.measured), len(both.tuning)) == expected
        assert not {q.id for q in both.measured} & {q.id for q in both.tuning}
    with pytest.raises(ConfigError, match="There are 2 questions"):
        corpus.parted(questions[:2], 1, 1)


def test_questions_are_about_what_is_searched(benchmark_module: Importing) -> None:
    corpus = benchmark_module("contest.corpus")
    everything = corpus.read_all_questions(corpus.Corpus(sample_path()), None)
    first = corpus.read_all_questions(corpus.Corpus(sample_path(), 1), None)
    assert 0 < len(first) < len(everything)
    assert {question.id for question in first} <= {question.id for question in everything}
    assert len(corpus.read_all_questions(corpus.Corpus(None), None)) == len(SAMPLE_QUESTIONS)
    with pytest.raises(ConfigError, match=r"give --questions FILE"):
        corpus.read_all_questions(corpus.Corpus(articles_path()), None)


def test_who_takes_part(benchmark_module: Importing, monkeypatch: pytest.MonkeyPatch) -> None:
    peers = benchmark_module("peers")
    folder = Path("folder")
    assert peers.chosen_contenders(None, None, None) == ["ours", "exact"]
    verified = ["ours-verify-auto", "ours-verify-1", "ours-verify-3"]
    assert peers.chosen_contenders(None, None, None, reads=True) == ["ours", *verified, "exact"]
    with pytest.raises(ConfigError, match="'ours-verify-1' needs a --model that reads"):
        peers.chosen_contenders(["ours-verify-1"], None, None)
    assert peers.chosen_contenders(["dense", "ours"], folder, folder) == ["ours", "dense"]
    with pytest.raises(ConfigError, match="'bm25' needs --reader"):
        peers.chosen_contenders(["bm25"], None, folder)
    with pytest.raises(ConfigError, match="'dense' needs --passage-encoder"):
        peers.chosen_contenders(["dense"], folder, None)
    with pytest.raises(ConfigError, match="'elastic' is unknown; expected one of ours, ours-verify-auto"):
        peers.chosen_contenders(["elastic"], None, None)
    monkeypatch.setattr(benchmark_module("contest.retrievers"), "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="needs bm25s, Stemmer: pip install 'densephrases\\[benchmarks\\]'"):
        peers.chosen_contenders(["bm25"], folder, None)


def test_the_fastest_engine_that_answers_well_is_chosen(benchmark_module: Importing) -> None:
    building = benchmark_module("contest.building")
    trials = [
        building.EngineTrial("torch", {512: 3.0, 2048: 4.0}, 20),
        building.EngineTrial("fp32", {512: 2.5, 2048: 2.0}, 19),
        building.EngineTrial("int8", {512: 1.0, 2048: 1.0}, 18),
    ]
    choice = building.chosen_engine(trials)
    assert (choice.engine, choice.tokens_per_batch, choice.right["int8"]) == ("fp32", 2048, 18)


def test_engines_read_passages_that_hold_an_answer(benchmark_module: Importing) -> None:
    building = benchmark_module("contest.building")
    passages = [Passage("Nothing here."), Passage("In 1066 it was."), Passage("1066 again.")]
    questions = asked("1067", "1066")
    assert building.answered_passages(questions, passages) == [(questions[1], "In 1066 it was.")]
    assert building.answered_passages(questions[:1], passages) == [(questions[0], "Nothing here.")]


def test_bars(benchmark_module: Importing, measures: ModuleType, contenders: ModuleType) -> None:
    report = benchmark_module("contest.report")

    def result(name: str, exact_match: float, seconds: float, **details: object) -> Any:
        single, batched = measures.Timed(1, [seconds]), measures.Timed(64, [seconds])
        memory = measures.Memory(1.0, 1.0)
        times = {"single": single, "batched": batched, "index_bytes": 1, "memory": memory, "details": details}
        return contenders.Result(contender=name, exact_match=exact_match, **times)

    ours = result("ours", 50.0, 0.1, encoding=[{"p50_ms": 60.0}, {"p50_ms": 50.0}])
    found = report.bars([ours, result("bm25", 51.0, 4.0)])
    assert [(round(bar.value, 3), bar.reached) for bar in found] == [(40, True), (-1, False), (2, False), (1.667, True)]
    assert report.bars([result("bm25", 51.0, 4.0)]) == []
    report.bars_table(found)
    report.results_table([ours])
