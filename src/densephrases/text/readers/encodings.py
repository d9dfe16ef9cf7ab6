"""The encoding of text files: by mark, as UTF-8, else by what the bytes would say in it.

Detectors know long texts and guess at short ones: they take 'Café Zürich' for Polish. So bytes that read as Western
text in Windows-1252 are that, and only what does not is left to a detector.
"""

import codecs
import re
import unicodedata
from itertools import pairwise

HEAD = 1 << 16  # bytes by which an encoding is told
_SAMPLE = 1 << 13  # bytes that are looked at closely
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as the mark of UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDE = ("utf-16-le", "utf-16-be")
_OTHERS = [
    *("cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949"),
]
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_HIGH = re.compile(rb"[\x80-\xff]")
_MOST_CONTROL = 0.01  # of the bytes of a text: files from old programs have a few
_MOST_ODD = 0.05  # of the characters beyond ASCII of a Western text
_LEAST_LATIN = 0.9  # for each zero byte of UTF-16
_MOST_DAMAGED = 0.1  # of the characters beyond ASCII of a damaged file in UTF-8
_BEYOND_ASCII = re.compile("[^\x00-\x7f]+")
# What Western text has directly before a letter: quotation marks, dashes and a few signs.
_BEFORE_LETTERS = frozenset("¿¡«»\u2039\u203a“”\u2018\u2019„\u201a\u2013—·\xad\xa0§…°©®")
_JAPANESE = ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA")  # scripts of one word
# Letters of Czech and Hungarian as Windows-1252 shows them, which no Western language has both of.
_NEVER_TOGETHER = (frozenset("øì"), frozenset("õû"))
_AFTER_WORD = re.compile(r"[^\W\d_]{3}[¹³¿¯¼¾£¥]")  # Polish; m³ and cm³ are Western
_TURKISH_OR_ICELANDIC, _ICELANDIC = frozenset("ðþýÐÞÝ"), frozenset("áíóúæÁÍÓÚÆ")


def detect_encoding(head: bytes) -> str | None:
    """The name of the codec for a file that begins like this, or None if it is no text."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if b"\0" in head:
        return _without_mark(head)
    if _is_utf8(head):
        return "utf-8"
    if len(_CONTROL.findall(head)) > _MOST_CONTROL * len(head):
        return None
    return _of_bytes(around_first(head, _SAMPLE // 2, _SAMPLE // 2))


def around_first(content: bytes, before: int, after: int) -> bytes:
    """The part with the first byte beyond ASCII: far from it there is nothing to tell encodings apart by."""
    found = _HIGH.search(content)
    first = found.start() if found else 0
    return content[max(first - before, 0) : first + after]


def _is_utf8(head: bytes) -> bool:
    """Also if the end of the head cuts a character, or a few characters are damaged."""
    decode = codecs.getincrementaldecoder("utf-8")
    try:
        decode().decode(head)
    except UnicodeDecodeError:
        text = decode("replace").decode(head)
        return text.count("\ufffd") < _MOST_DAMAGED * len(re.findall("[^\x00-\x7f]", text))
    return True


def _without_mark(head: bytes) -> str | None:
    """UTF-16 has a zero in every character of ASCII; read in the wrong order, or as anything else, it makes no text."""
    sample = head[:_SAMPLE]
    texts = {encoding: _decoded(sample, encoding) for encoding in _WIDE}
    readable = {encoding: text for encoding, text in texts.items() if text and _is_wide(text, sample.count(0))}
    return max(readable, key=lambda encoding: sum(map(str.isascii, readable[encoding])), default=None)


def _is_wide(text: str, zeros: int) -> bool:
    """Whether it is text in which nearly all zeros belong to characters of Latin."""
    latin = sum(character < "\u0100" for character in text)
    return latin >= _LEAST_LATIN * zeros and _oddness(text) <= _MOST_ODD and not any(map(_is_no_text, text))


def _decoded(sample: bytes, encoding: str) -> str | None:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return None


def _is_no_text(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cn", "Co", "Cs") and character not in "\t\n\r\f\v\x1b\x85"


def _of_bytes(sample: bytes) -> str:
    western = _decoded(sample, "cp1252")
    if western is not None and _is_western(western):
        return "cp1252"
    texts = {encoding: text for encoding in _others(sample) if (text := _decoded(sample, encoding))}
    return min(texts, key=lambda encoding: _oddness(texts[encoding]), default="cp1252")


def _others(sample: bytes) -> list[str]:
    """All of them, those first that the detector finds: it knows which letters are frequent in a language."""
    import charset_normalizer

    matches = charset_normalizer.from_bytes(sample, cp_isolation=_OTHERS)
    likely = [encoding for match in matches for encoding in match.could_be_from_charset if encoding in _OTHERS]
    return list(dict.fromkeys([*likely, *_OTHERS]))


def _is_western(text: str) -> bool:
    beyond = _BEYOND_ASCII.findall(text)
    letters = {character for run in beyond for character in run if character.isalpha()}
    if letters & _TURKISH_OR_ICELANDIC and not letters & _ICELANDIC:
        return False
    if any(pair <= letters for pair in _NEVER_TOGETHER):
        return False
    odd = sum(len(run) for run in beyond if len(run) > 2 and any(map(str.isalpha, run)))
    odd += sum(map(_is_odd_pair, text, text[1:])) + len(_AFTER_WORD.findall(text))
    return odd <= _MOST_ODD * sum(map(len, beyond))


def _is_odd_pair(first: str, second: str) -> bool:
    """Whether no Western word has these next to each other: a capital inside a word, or a symbol before a letter."""
    if first.isascii() and second.isascii():
        return False
    if second.isalpha() and not first.isalnum():
        return not first.isascii() and first not in _BEFORE_LETTERS
    return first.islower() and second.isupper()


def _oddness(text: str) -> float:
    """The share of neighbours beyond ASCII that no word of any language has."""
    pairs = [pair for pair in pairwise(text) if not (pair[0].isascii() and pair[1].isascii())]
    return sum(_is_odd_pair(*pair) or _is_mixed(*pair) for pair in pairs) / max(len(pairs), 1)


def _is_mixed(first: str, second: str) -> bool:
    """A letter and a symbol, letters of two scripts, or two Latin ones beyond ASCII, as other scripts look in Latin."""
    if not (first.isalpha() and second.isalpha()):
        return (first.isalpha() and _is_symbol(second)) or (second.isalpha() and _is_symbol(first))
    script = _script(first)
    return script != _script(second) or (script == "LATIN" and not first.isascii() and not second.isascii())


def _is_symbol(character: str) -> bool:
    return not character.isascii() and unicodedata.category(character) in ("So", "Sm", "No", "Sc", "Sk")


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "").partition(" ")[0]
    return _JAPANESE[0] if name in _JAPANESE else name
