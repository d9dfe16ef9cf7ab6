"""The sentences around a phrase, found the slow and plain way."""

from densephrases.text.sentences import TextSpan, sentence_spans


def sentences_around(text: str, start: int, end: int) -> TextSpan:
    """From the first to the last sentence that the phrase `text[start:end]` touches.

    A phrase that touches none, because it is only space, is returned as it is.
    """
    if not 0 <= start <= end <= len(text):
        raise ValueError(f"No phrase at {start}:{end} in a text of {len(text)} characters; expected 0 <= start <= end.")
    last = max(end, start + 1)
    touched = [sentence for sentence in sentence_spans(text) if sentence.start < last and start < sentence.end]
    return TextSpan(touched[0].start, touched[-1].end) if touched else TextSpan(start, end)
