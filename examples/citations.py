"""A local language model that answers from passages and cites them; phrase search finds the passages.

The passages are numbered in the prompt, and the model is asked to end with the number of its source. Without one,
passages are sources whose best phrase stands in the answer. Beside it stands the phrase that search found by itself: it
is an exact quotation, while a language model may write anything.

python examples/citations.py --model FOLDER [QUESTION...]     # any causal Hugging Face model
"""

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from densephrases import Answer, Document, PhraseIndex

NOTES = {
    "lease": "The lease of the flat ends on 31 March 2027. The rent is 950 euros a month.",
    "boiler": "The boiler was repaired by Anna Berg in October. She charged 120 euros.",
    "bicycle": "The bicycle is locked in the cellar. Its key hangs beside the door of the kitchen.",
}
QUESTIONS = ["When does the lease end?", "Who repaired the boiler, and what did it cost?"]

Turn = dict[str, str]
Generate = Callable[[Sequence[Turn]], str]
"""From the turns of a conversation, each with `role` and `content`, to what the model says next."""


@dataclass(frozen=True)
class Cited:
    """What the model wrote, the passages that it cites, and the phrase of search with its probability."""

    text: str
    sources: Sequence[Answer]
    phrase: str
    confidence: float | None


SYSTEM = "Answer in one short sentence from the sources alone, and end it with the number of the source."
EXAMPLE = "[1] The roof is of slate.\n[2] The door was painted green by Eva.\n\nQuestion: Who painted the door?"


def conversation(question: str, passages: Sequence[Answer]) -> list[Turn]:
    sources = "\n".join(f"[{number}] {passage.text}" for number, passage in enumerate(passages, start=1))
    return [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": EXAMPLE},
        {"role": "assistant", "content": "Eva painted the door. [2]"},
        {"role": "user", "content": f"{sources}\n\nQuestion: {question}"},
    ]


def answer(index: PhraseIndex, question: str, generate: Generate, passages: int = 2) -> Cited:
    found = index.search(question, k=passages, unit="passage")
    written = generate(conversation(question, found)).strip()
    ended = re.match(r"(?P<text>.*?\[(?P<number>\d+)\])", written, re.DOTALL)  # what follows is none of the answer
    if ended and 1 <= int(ended["number"]) <= len(found):
        text, sources = ended["text"], [found[int(ended["number"]) - 1]]
    else:
        text, sources = written, [passage for passage in found if passage.phrase.text in written]
    return Cited(text, sources, found[0].phrase.text, found[0].confidence)


def local_model(folder: str) -> Generate:
    """Greedy decoding with transformers; needs the extra `train`."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype="float32")

    def generate(turns: Sequence[Turn]) -> str:
        if tokenizer.chat_template:
            text = tokenizer.apply_chat_template(list(turns), add_generation_prompt=True, tokenize=False)
        else:
            text = "\n\n".join(turn["content"] for turn in turns) + "\n\n"
        inputs = tokenizer(text, return_tensors="pt", add_special_tokens=not tokenizer.chat_template)
        written = model.generate(**inputs, max_new_tokens=40, do_sample=False, pad_token_id=tokenizer.eos_token_id)
        return str(tokenizer.decode(written[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True))

    return generate


def main() -> None:
    parser = argparse.ArgumentParser(description="Answer with a local language model, and cite.")
    parser.add_argument("--model", required=True, help="folder or hub name of a causal language model")
    parser.add_argument("questions", nargs="*", default=QUESTIONS)
    options = parser.parse_args()

    generate = local_model(options.model)
    with TemporaryDirectory() as folder:
        index = PhraseIndex.create(Path(folder) / "index", [Document(name, text, name) for name, text in NOTES.items()])
        for question in options.questions:
            cited = answer(index, question, generate)
            print(question)
            print(f"  {cited.text}")
            for source in cited.sources:
                print(f"  source: {source.document.id}, characters {source.start} to {source.end}")
            print(f"  quoted: {cited.phrase} ({cited.confidence:.0%} sure)")


if __name__ == "__main__":
    main()
