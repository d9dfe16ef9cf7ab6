"""Tasks cover all files in order, end together, and come back from the disk."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.cluster.build.plan import Plan, PlannedFile, TaskSize, changed_source
from densephrases.errors import DataError
from densephrases.text.readers.folders.found_files import FoundFile, Places
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.read import ReadOptions, read_documents, read_files

from .corpus import SIZE, corpus, sources


def found() -> list[FoundFile]:
    return list(Places.from_paths(sources(corpus())).files())


@pytest.mark.parametrize("encoders", [1, 2, 7])
def test_tasks_in_turn_are_all_documents(encoders: int) -> None:
    plan = Plan.from_files(found(), encoders, SIZE)
    files = [file.file for task in plan.tasks for file in task.files]
    assert [task.number for task in plan.tasks] == list(range(1, len(plan.tasks) + 1))
    assert len(plan.tasks) >= 2
    read = list(read_files(files, ReadOptions(), ReadReport()))
    plain = list(read_documents(sources(corpus())))
    assert read == plain
    assert [each.file for each in read] == [each.file for each in plain]


def test_a_plan_comes_back_from_the_disk() -> None:
    plan = Plan.from_files(found(), 2, SIZE)
    assert Plan.from_json(plan.to_json()) == plan
    assert str(plan.tasks[0]).endswith("people.jsonl'")
    assert " to " in str(plan.tasks[-1])


@given(
    st.lists(st.integers(0, 5000), min_size=1, max_size=60), st.integers(1, 9), st.integers(1, 900), st.integers(1, 4)
)
def test_sizes_of_tasks(sizes: list[int], encoders: int, least: int, factor: int) -> None:
    size = TaskSize(least=least, most=least * factor)
    (template,) = list(Places.from_paths([Path(__file__)]).files())
    planned = [PlannedFile(template, each, 0) for each in sizes]
    plan = Plan.from_planned(planned, encoders, size)
    assert [file for task in plan.tasks for file in task.files] == planned
    assert all(task.weight >= least for task in plan.tasks[:-1])
    assert all(task.weight <= size.most + 5000 for task in plan.tasks)


def test_tasks_become_smaller() -> None:
    (template,) = list(Places.from_paths([Path(__file__)]).files())
    plan = Plan.from_planned([PlannedFile(template, 1000, 0)] * 1000, 2, TaskSize(least=10_000, most=50_000))
    weights = [task.weight for task in plan.tasks]
    assert weights == sorted(weights, reverse=True)
    assert (weights[0], weights[-2]) == (50_000, 10_000)


def test_the_first_difference_between_files(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(name)
    before = Plan.from_files(Places.from_paths([tmp_path]).files(), 1).states()

    def now() -> str:
        return changed_source(before, list(Places.from_paths([tmp_path]).files()))

    assert now() == ""
    (tmp_path / "c.txt").write_text("c")
    assert now() == f"'{tmp_path}/c.txt' is new"
    (tmp_path / "c.txt").unlink()
    (tmp_path / "b.txt").write_text("other")
    assert now() == f"'{tmp_path}/b.txt' has changed"
    (tmp_path / "b.txt").unlink()
    assert now() == f"'{tmp_path}/b.txt' is gone"


def test_a_link_is_planned_whole_and_refused_once(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link.jsonl").symlink_to(sources(corpus())[0] / "people.jsonl")
    plan = Plan.from_files(Places.from_paths([folder]).files(), 2, SIZE)
    report = ReadReport()
    assert list(read_files([file.file for task in plan.tasks for file in task.files], ReadOptions(), report)) == []
    assert report.skipped == 1


def test_a_file_that_changed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (file,) = Plan.from_files(Places.from_paths([tmp_path]).files(), 1).tasks[0].files
    file.refuse_changed()
    (tmp_path / "a.txt").unlink()
    with pytest.raises(DataError, match=r"a.txt' changed after the build was planned"):
        file.refuse_changed()
