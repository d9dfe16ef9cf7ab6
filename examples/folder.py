"""Questions to a folder: an index beside it, kept in step, and answers with their sources.

python examples/folder.py FOLDER QUESTION...
"""

import argparse
from pathlib import Path

from densephrases import Answer, PhraseIndex, read_documents


def up_to_date(folder: Path) -> PhraseIndex:
    """The index of a folder; made by the first call, brought in step by the others."""
    place = folder.with_name(f"{folder.name}-phrases")
    if not place.exists():
        return PhraseIndex.create(place, read_documents(folder))
    index = PhraseIndex.open(place)
    changes = index.sync(folder)
    if changed := [*changes.added, *changes.replaced, *changes.deleted]:
        print(f"Changed: {', '.join(changed)}")
    return index


def shown(answer: Answer) -> str:
    path = answer.document.metadata["path"]
    return f"{answer.text}  ({path}, characters {answer.start} to {answer.end}, {answer.confidence:.0%} sure)"


def main() -> None:
    parser = argparse.ArgumentParser(description="Ask a folder.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("questions", nargs="+")
    parser.add_argument("--sure", type=float, default=0.3, help="answers below this probability are no answers")
    options = parser.parse_args()

    index = up_to_date(options.folder)
    for question, answers in zip(options.questions, index.search(options.questions, k=1), strict=True):
        print(question)
        best = answers[0] if answers and (answers[0].confidence or 0) >= options.sure else None
        print("  I do not know." if best is None else f"  {shown(best)}")


if __name__ == "__main__":
    main()
