"""FAQ search: which entry answers the question, and which of its sentences?

Entries are documents: the question is the title, the answer the text. Results are sentences, so that a long entry shows
the part that matters.

    python examples/faq_search.py [QUESTION...]
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from densephrases import Document, PhraseIndex

FAQ = {
    "How do I reset my password?": "Open the sign-in page and choose 'Forgot password'. A link is sent to your address "
    "and is valid for one hour. If no mail arrives, look into the spam folder.",
    "When is my order shipped?": "Orders placed before noon are shipped on the same day. Heavy parcels leave on "
    "Tuesdays and Fridays only. You get a tracking number by mail.",
    "Can I return an item?": "You can return any item within 30 days. The label is in the parcel. Money is returned "
    "within five working days after the parcel has arrived.",
    "Which payments do you take?": "We take cards, bank transfers and invoices. Invoices are possible from the second "
    "order on and are due within 14 days.",
    "How do I reach you?": "We answer calls from Monday to Friday between 8 and 18 o'clock. Outside these hours "
    "write to us, and we reply on the next working day.",
}
QUESTIONS = [
    "how long does the password link work",
    "what days do you send big packages",
    "when do I get my money back",
    "is it possible to pay by invoice the first time",
    "can I phone on Saturday",
]


def main() -> None:
    questions = sys.argv[1:] or QUESTIONS
    entries = [Document(str(number), text, title) for number, (title, text) in enumerate(FAQ.items(), start=1)]
    with TemporaryDirectory() as folder:
        index = PhraseIndex.create(Path(folder) / "index", entries)
        for question, answers in zip(questions, index.search(questions, k=1, unit="sentence"), strict=True):
            print(question)
            for answer in answers:
                print(f"  {answer.document.title}  {answer.text}")


if __name__ == "__main__":
    main()
