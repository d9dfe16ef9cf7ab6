"""How many questions a small index can answer at all."""

from pathlib import Path

from densephrases.data.questions import OpenQuestion
from densephrases.evaluate.answerable import answerable
from tests.evaluate.made_up import cities

QUESTIONS = [
    OpenQuestion("0", "who?", ("Gustave", "eiffel")),
    OpenQuestion("1", "where?", ("Rome",)),
    OpenQuestion("2", "when?", (r"18\d\d",), regex=True),
    OpenQuestion("3", "when?", (r"19\d\d",), regex=True),
    OpenQuestion("4", "what?", ("1889. London is",)),  # no phrase crosses documents
    OpenQuestion("5", "what?", ()),
    OpenQuestion("6", "where?", ("in France",)),
]


def test_answerable(tmp_path: Path) -> None:
    index = cities(tmp_path / "index")
    told: list[int] = []
    assert answerable(index.folder, QUESTIONS, 20, told.append) == {0, 2, 6}
    assert sum(told) == index.info().passages


def test_deleted_documents_answer_nothing(tmp_path: Path) -> None:
    index = cities(tmp_path / "index")
    index.delete(["paris"])
    assert 6 not in answerable(index.folder, QUESTIONS, 20)
