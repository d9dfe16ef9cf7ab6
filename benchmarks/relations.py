"""How often `extract` is right about the bundled articles, and how often it says something that they do not state.

`relations.jsonl` has facts that were looked up in the articles by hand, and, with no answers, relations that no article
states. A fact counts as right if its object equals one of the answers as SQuAD compares them.

    python benchmarks/relations.py                       # index the bundled articles, then extract
    python benchmarks/relations.py --index sample-index  # an index of them that is there already
    python benchmarks/relations.py --plain               # "what is the ... of ...?", whatever the text says
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from densephrases import PhraseIndex
from densephrases.data.matching.em_f1 import normalize_answer
from densephrases.sample import articles_path
from densephrases.search.facts.relations import LEAST_CONFIDENCE, QUESTION
from densephrases.text.readers.read import read_documents

FACTS = Path(__file__).with_suffix(".jsonl")
OUTCOMES = ("right", "wrong", "empty though stated", "filled though absent", "rightly empty")


@dataclass(frozen=True)
class Checked:
    subject: str
    relation: str
    answers: tuple[str, ...]
    found: str | None
    confidence: float | None = None

    @property
    def outcome(self) -> str:
        if not self.answers:
            return "rightly empty" if self.found is None else "filled though absent"
        if self.found is None:
            return "empty though stated"
        accepted = {normalize_answer(answer) for answer in self.answers}
        return "right" if normalize_answer(self.found) in accepted else "wrong"


def read_facts(path: Path = FACTS) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def check(index: PhraseIndex, facts: Sequence[Mapping[str, Any]], **options: Any) -> list[Checked]:
    """All subjects of a relation are extracted together."""
    by_relation = defaultdict(list)
    for fact in facts:
        by_relation[fact["relation"]].append(fact)
    checked = []
    for relation, several in by_relation.items():
        found = index.extract([fact["subject"] for fact in several], relation, **options)
        for fact, each in zip(several, found, strict=True):
            confidence = None if each.answer is None else each.answer.confidence
            checked.append(Checked(fact["subject"], relation, tuple(fact["answers"]), each.object, confidence))
    return checked


def counted(checked: Iterable[Checked]) -> dict[str, int]:
    counts = Counter(each.outcome for each in checked)
    return {outcome: counts[outcome] for outcome in OUTCOMES}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure `extract` on facts about the bundled articles.")
    parser.add_argument("--index", type=Path, help="an index of the bundled articles [default: made anew]")
    parser.add_argument("--min-confidence", type=float, default=LEAST_CONFIDENCE)
    parser.add_argument("--plain", action="store_true", help="one question for all relations, any text")
    parser.add_argument("--show", action="store_true", help="print every fact that is not right")
    options = parser.parse_args()
    settings: dict[str, Any] = {"min_confidence": options.min_confidence}
    if options.plain:
        settings |= {"template": QUESTION, "anywhere": True}
    with TemporaryDirectory() as scratch:
        if options.index is None:
            index = PhraseIndex.create(Path(scratch) / "index", read_documents([articles_path()]))
        else:
            index = PhraseIndex.open(options.index)
        checked = check(index, read_facts(), **settings)
    for each in checked if options.show else ():
        if each.outcome not in ("right", "rightly empty"):
            print(f"{each.outcome}: {each.subject}, {each.relation}: {each.found} ({each.confidence})")
    for outcome, count in counted(checked).items():
        print(f"{count:4} {outcome}")


if __name__ == "__main__":
    main()
