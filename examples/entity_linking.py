"""Entity linking as document retrieval: which article is the marked name about?

Documents are descriptions of entities. A mention with the words around it is the question, and the best document is the
entity. The paper evaluates this on AIDA CoNLL-YAGO (KILT), with questions marked as here.

    python examples/entity_linking.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from densephrases import Document, PhraseIndex

ENTITIES = {
    "Jaguar": "The jaguar is a large cat of the Americas. It hunts deer, peccaries and caimans, and swims well.",
    "Jaguar Cars": "Jaguar Cars was a British maker of luxury cars. Its cars won the race of Le Mans seven times.",
    "Paris": "Paris is the capital of France. It lies on the Seine and has two million inhabitants.",
    "Paris, Texas": "Paris is a town in the north-east of Texas. It has a tower with a red cowboy hat.",
    "Paris (mythology)": "Paris is a prince of Troy. He carried off Helen, which began the Trojan War.",
    "Mercury (planet)": "Mercury is the planet nearest to the Sun. A year on it takes 88 days.",
    "Mercury (element)": "Mercury is a liquid metal. It was used in thermometers and is poisonous.",
    "Freddie Mercury": "Freddie Mercury was the singer of the band Queen. He was born in Zanzibar.",
}
MENTIONS = [
    "The [START_ENT] Jaguar [END_ENT] won Le Mans again with its new engine.",
    "A [START_ENT] jaguar [END_ENT] was seen swimming after a caiman.",
    "[START_ENT] Paris [END_ENT] ran away with Helen to Troy.",
    "Drivers passed through [START_ENT] Paris [END_ENT] on their way across Texas.",
    "Broken thermometers are collected because of their [START_ENT] mercury [END_ENT].",
    "The probe took pictures of [START_ENT] Mercury [END_ENT] close to the Sun.",
    "Queen gave its last concert with [START_ENT] Mercury [END_ENT] in 1986.",
]


def main() -> None:
    documents = (Document(title, text, title) for title, text in ENTITIES.items())
    with TemporaryDirectory() as folder:
        index = PhraseIndex.create(Path(folder) / "index", documents)
        for mention, answers in zip(MENTIONS, index.search(MENTIONS, k=1, unit="document"), strict=True):
            print(f"{answers[0].document.title:<18} {mention}")


if __name__ == "__main__":
    main()
