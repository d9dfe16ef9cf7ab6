"""Dialogue as document retrieval: which article does the next turn of a conversation need?

The last turns of the conversation are the question, as in Wizard of Wikipedia (KILT), and the best document is what a
speaker would look up. The best phrase in it is something to say.

    python examples/dialogue.py
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from densephrases import Document, PhraseIndex

ARTICLES = {
    "Violin": "The violin has four strings and is played with a bow. The most famous makers were Amati, Guarneri "
    "and Stradivari of Cremona.",
    "Sourdough": "Sourdough is bread raised by wild yeast and bacteria. A starter of flour and water is fed every day.",
    "Marathon": "The marathon is a race over 42.195 kilometres. The first modern one was run in Athens in 1896.",
    "Lake Baikal": "Lake Baikal in Siberia is the deepest lake of the world, 1,642 metres deep. It is frozen from "
    "January to May.",
    "Chess": "Chess is played by two on a board of 64 squares. Magnus Carlsen became world champion in 2013.",
}
DIALOGUES = [
    [
        "I started to bake during the winter.",
        "Nice! What do you bake?",
        "Bread, but mine never rises without bought yeast.",
    ],
    [
        "My daughter wants to learn an instrument.",
        "Which one?",
        "One with strings and a bow. I hear old Italian ones are the best.",
    ],
    [
        "I need a goal for next year.",
        "Do you run?",
        "A little, ten kilometres at most, but I would like the really long race.",
    ],
    [
        "We are planning a trip to Siberia.",
        "What will you see there?",
        "The water is said to be very deep and frozen in spring.",
    ],
]
TURNS = 2  # that a question takes: those before matter less, and a question has at most 64 tokens


def question(turns: Sequence[str]) -> str:
    return " ".join(turns[-TURNS:])


def main() -> None:
    documents = (Document(title, text, title) for title, text in ARTICLES.items())
    with TemporaryDirectory() as folder:
        index = PhraseIndex.create(Path(folder) / "index", documents)
        found = index.search([question(turns) for turns in DIALOGUES], k=1, unit="document")
        for turns, answers in zip(DIALOGUES, found, strict=True):
            print(turns[-1])
            print(f"  {answers[0].document.title}")


if __name__ == "__main__":
    main()
