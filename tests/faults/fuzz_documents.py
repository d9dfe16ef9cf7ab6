"""Every reader of documents with damaged and malicious files."""

import bz2
import gzip
import json
import lzma
import random
import resource
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

from densephrases.errors import DensePhrasesError
from densephrases.index.segment.document_keys import PreparedDocument
from densephrases.text.readers.read import read_documents
from tests.faults.mutate import mutated
from tests.faults.outcome import Outcome

PROMISE = "A document of any bytes is read or skipped with a reason"
MOST_MEMORY = 1 << 29  # bytes that reading may add to the process
LIMIT = 20_000  # bytes of a document

_PAGE = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/"><siteinfo><namespaces><namespace key="6">File'
    "</namespace></namespaces></siteinfo><page><title>Paris</title><ns>0</ns><id>7</id><revision><id>12</id><model>"
    "wikitext</model><text>'''Paris''' is [[a|the]] city {{convert|3|m}}.&lt;ref&gt;x&lt;/ref&gt;\n\n==H==\n* a\n{|\n|b"
    "\n|}</text></revision></page></mediawiki>"
)
_PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 35>>stream
BT /F 12 Tf 9 9 Td (Ann met.) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R/Size 6>>
startxref
0
%%EOF
"""
_RECORDS = [{"id": "a", "title": "T", "text": "Ann met Bob.", "metadata": {"year": 1889, "tags": ["x"]}, "more": 1.5}]
SEEDS: dict[str, bytes] = {
    ".txt": b"Ann met Bob.\r\n\r\nThen they left. \xe2\x82\xac 5",
    ".md": b"---\ntitle: 'A b'\n---\n# Head #\n\nText `code`\n\n```\n# no\n```\nUnder\n=====\n",
    ".html": b"<!doctype html><html><head><meta charset=utf-8><title>T</title></head><body><nav><a href=x>m</a></nav>"
    b"<header>s</header><h1 class='a b'>H</h1><p>One &amp; <b>two<i>x</b></i><table><tr><td>1</table><pre> y</pre>",
    ".csv": b'id,title,text,year\r\na,T,"Ann, ""met""\nBob",1889\r\nb,,left,2\r\n',
    ".tsv": b"id\ttext\tn\na\tAnn\t1\nb\tBob\t2\n",
    ".json": json.dumps(_RECORDS * 2).encode(),
    ".jsonl": b"".join(json.dumps(record).encode() + b"\n" for record in _RECORDS * 2),
    ".xml": _PAGE.encode(),
    ".pdf": _PDF,
}
_COMPRESSED: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
_RARELY = {".pdf": 0.06, ".xml": 0.5}  # slower than the others


def attack(cases: int, seed: int, folder: Path) -> Outcome:
    chance = random.Random(seed)  # noqa: S311
    failures: list[str] = []
    quiet()
    before = peak_memory()
    for number in range(cases):
        name, content = made(chance)
        path = folder / name
        path.write_bytes(content)
        if fault := read_fault(path, strict=chance.random() < 0.1):
            failures.append(f"case {number}, {name}: {fault}")
        path.unlink()
    if (grown := peak_memory() - before) > MOST_MEMORY:
        failures.append(f"reading took {grown:,} bytes of memory")
    return Outcome(PROMISE, cases, tuple(failures))


def made(chance: random.Random) -> tuple[str, bytes]:
    """A name whose suffix chooses the reader, and the content of a file."""
    suffix = chance.choice(list(SEEDS))
    while chance.random() > _RARELY.get(suffix, 1.0):
        suffix = chance.choice(list(SEEDS))
    content = mutated(SEEDS[suffix], chance)
    if chance.random() < 0.05:  # the content of another format
        content = mutated(SEEDS[chance.choice(list(SEEDS))], chance)
    if chance.random() < 0.2:
        compression = chance.choice(list(_COMPRESSED))
        content = _COMPRESSED[compression](content)
        return f"a{suffix}{compression}", mutated(content, chance) if chance.random() < 0.5 else content
    return f"a{suffix}", content


def read_fault(path: Path, *, strict: bool) -> str:
    """What is wrong with how a file is read; nothing if all is well."""
    try:
        for document in read_documents([path], strict=strict, max_document=LIMIT):
            PreparedDocument.from_document(document)
    except DensePhrasesError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    return ""


def quiet() -> None:
    """Readers of others warn of what they repair."""
    warnings.simplefilter("ignore")


def peak_memory() -> int:
    """Bytes; macOS counts in bytes, Linux in kibibytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
