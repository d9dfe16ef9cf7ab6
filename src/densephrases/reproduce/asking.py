"""Questions asked of an index: the user's, or one that a step makes of documents."""

from functools import partial
from pathlib import Path

from densephrases.data.files import read_questions
from densephrases.data.questions import OpenQuestion
from densephrases.evaluate.open_domain import OpenScores, ask_collection
from densephrases.index.folder import IndexFolder
from densephrases.reproduce.inputs import Inputs
from densephrases.reproduce.plan import Plan, Result, Step
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest, Verify
from densephrases.text.readers.read import read_documents

QUESTION_SETS = ("NQ", "WQ", "TREC", "TQA", "SQuAD")
INDEX_STEP = "index"


def needs_index(inputs: Inputs, made: Plan) -> bool:
    """Adds the step that makes the index where there is none; without documents the table cannot be made."""
    if inputs.index is None and not _documents(inputs):
        made.leave_out("The table", "it needs an index to ask: name one with --index, or --documents to make one")
        return False
    if inputs.index is None:
        made.steps.append(Step(INDEX_STEP, partial(_make_index, inputs)))
    return True


def index_folder(inputs: Inputs) -> Path:
    return inputs.index or inputs.out / "index"


def _documents(inputs: Inputs) -> list[Path]:
    if inputs.size == "smoke" and not inputs.documents:
        from densephrases.reproduce.smoke import documents_file

        return [documents_file(inputs.out)]
    return list(inputs.documents)


def _make_index(inputs: Inputs) -> Result:
    """Goes on with an index that was stopped."""
    index = PhraseIndex.create(index_folder(inputs), read_documents(_documents(inputs)), model=inputs.model or "small")
    return {"documents": len(index)}


def exact_match(inputs: Inputs, name: str, verify: Verify | None, model: Path | None = None) -> Result:
    """EM of the first answers, and its ceiling: the share of questions that the text can answer at all."""
    index = PhraseIndex.open(index_folder(inputs), model or inputs.model)
    questions = asked(inputs, name)
    request = SearchRequest(k=10, verify=verify)
    judged = [each.judgement for each in ask_collection(index, questions, request)]
    scores = OpenScores.from_judgements(judged, 10)
    counts = {"questions": scores.questions, "documents": len(index), "ceiling": scores.ceiling}
    return counts | {"exact_match": scores.exact_match, "f1": scores.f1}


def asked(inputs: Inputs, name: str) -> list[OpenQuestion]:
    """The test questions of a set, spread over its file if there is a limit."""
    path = inputs.file(f"{name}-test")
    assert path is not None
    questions = read_questions(path).questions
    return questions if inputs.limit is None else questions[:: max(-(-len(questions) // inputs.limit), 1)]


def index_model(inputs: Inputs) -> str:
    """The model to fine-tune: the user's, else the index's."""
    return inputs.model or IndexFolder.open(index_folder(inputs)).settings.model
