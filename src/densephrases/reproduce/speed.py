"""Tables 1 and A.1: bytes of an index, and questions a second by the paper's protocol (appendix B).

1,000 questions of Natural Questions in batches of 64; neither the first five batches nor their time are counted.
"""

import time
from functools import partial
from itertools import cycle, islice

from densephrases.reproduce.asking import asked, index_folder, needs_index
from densephrases.reproduce.inputs import Inputs
from densephrases.reproduce.plan import Plan, Result, Row, Step
from densephrases.reproduce.training import Watch
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest, Verify

QUESTIONS, AT_ONCE, WARM_UP = 1_000, 64, 5

_ROWS: dict[str, tuple[str, Verify | None]] = {
    "this index, CPU, nothing read": ("speed", 0),
    "this index, CPU, by default": ("speed-by-default", None),
}


def plan(inputs: Inputs, watch: Watch) -> Plan:
    """Two rows: nothing is read again, and as users search."""
    made = Plan()
    reason = inputs.missing("NQ-test")
    if reason is not None:
        made.leave_out("The table", reason)
        return made
    if not needs_index(inputs, made):
        return Plan(left_out=made.left_out)
    made.steps.append(Step("storage", partial(_storage, inputs)))
    for row, (step, verify) in _ROWS.items():
        made.steps.append(Step(step, partial(_speed, inputs, verify)))
        stored = {"storage GB": ("storage", "gigabytes"), "bytes per token": ("storage", "bytes_per_token")}
        made.rows.append(Row(row, stored | {"questions/s": (step, "questions_per_second")}))
    return made


def _storage(inputs: Inputs) -> Result:
    index = PhraseIndex.open(index_folder(inputs), inputs.model)
    info, tokens = index.info(), index.disk_usage().tokens
    counts = {"documents": info.documents, "tokens": tokens, "vectors": info.vectors}
    return counts | {"gigabytes": info.bytes / 1e9, "bytes_per_token": info.bytes / max(tokens, 1)}


def _speed(inputs: Inputs, verify: Verify | None) -> Result:
    """A file with fewer questions is asked again from its beginning."""
    index = PhraseIndex.open(index_folder(inputs), inputs.model)
    number, at_once = (14, 2) if inputs.size == "smoke" else (QUESTIONS, AT_ONCE)
    questions = list(islice(cycle(question.text for question in asked(inputs, "NQ")), number))
    batches = [questions[first : first + at_once] for first in range(0, number, at_once)]
    request = SearchRequest(k=10, verify=verify)
    for batch in batches[:WARM_UP]:
        index.search(batch, request=request)
    begun = time.perf_counter()
    for batch in batches[WARM_UP:]:
        index.search(batch, request=request)
    seconds, counted = time.perf_counter() - begun, sum(map(len, batches[WARM_UP:]))
    return {"questions": counted, "seconds": seconds, "questions_per_second": counted / seconds}
