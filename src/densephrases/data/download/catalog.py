"""The data sets of the paper and where their owners publish them.

The SHA-256 of a file stands here only if it is published for that address (by http or https): by Hugging Face's
`datasets`, whose `dataset_infos.json` names address, bytes and checksum. No published one is known of the other files;
theirs is recorded when they are first downloaded.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from typing import Literal

from densephrases.errors import ConfigError, meant

Conversion = Literal["mrqa", "triviaqa", "kilt-articles"]

_SQUAD = "https://rajpurkar.github.io/SQuAD-explorer/dataset/"
_NQ_OPEN = "https://raw.githubusercontent.com/google-research-datasets/natural-questions/master/nq_open/"
_DPR = "https://dl.fbaipublicfiles.com/dpr/"
_MRQA = "https://s3.us-east-2.amazonaws.com/mrqa/release/v2/"
_WEBQ = "https://nlp.stanford.edu/static/software/sempre/release-emnlp2013/lib/data/webquestions/dataset_11/"
_TREC = "https://raw.githubusercontent.com/brmson/dataset-factoid-curated/master/"
_KILT = "https://dl.fbaipublicfiles.com/KILT/"
_DUMPS = "https://dumps.wikimedia.org/"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """A file, its address, and what it becomes.

    Attributes:
        bytes: Its size, as far as it is published.
        sha256: As published for this address.
        sha1_list: Address of the owner's list of SHA-1 checksums, in the format of `sha1sum`.
        convert: How the files that the commands read are made; None if they read this one.
        to: Names of the files that the conversion writes.
    """

    name: str
    address: str
    bytes: int | None = None
    sha256: str | None = None
    sha1_list: str | None = None
    convert: Conversion | None = None
    to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """Attributes:
    used_by: The commands that read its files, or the files made of them.
    """

    name: str
    title: str
    licence: str
    used_by: str
    files: tuple[RemoteFile, ...] = field(repr=False)

    def selected(self, patterns: Sequence[str]) -> tuple[RemoteFile, ...]:
        """The files whose names match one of the patterns, as in a shell; all files without patterns."""
        for pattern in patterns:
            if not any(fnmatch(file.name, pattern) for file in self.files):
                names = ", ".join(file.name for file in self.files)
                raise ConfigError(f"only={pattern!r} matches no file of '{self.name}'; its files are {names}.")
        return tuple(f for f in self.files if not patterns or any(fnmatch(f.name, pattern) for pattern in patterns))


def _file(name: str, address: str, size: int | None = None, sha256: str | None = None) -> RemoteFile:
    return RemoteFile(name=name, address=address, bytes=size, sha256=sha256)


_SQUAD_FILES = (
    _file(
        "train-v1.1.json",
        f"{_SQUAD}train-v1.1.json",
        30288272,
        "3527663986b8295af4f7fcdff1ba1ff3f72d07d61a20f487cb238a6ef92fd955",
    ),
    _file(
        "dev-v1.1.json",
        f"{_SQUAD}dev-v1.1.json",
        4854279,
        "95aa6a52d5d6a735563366753ca50492a658031da74f301ac5238b03966972c9",
    ),
)
_SQUAD_2_FILES = (
    _file(
        "train-v2.0.json",
        f"{_SQUAD}train-v2.0.json",
        42123633,
        "68dcfbb971bd3e96d5b46c7177b16c1a4e7d4bdef19fb204502738552dede002",
    ),
    _file(
        "dev-v2.0.json",
        f"{_SQUAD}dev-v2.0.json",
        4370528,
        "80a5225e94905956a6446d296ca1093975c4d3b3260f1d6c8f68bc2ab77182d8",
    ),
)
_NQ_FILES = (
    *(_file(f"nq-{split}.qa.csv", f"{_DPR}data/retriever/nq-{split}.qa.csv") for split in ("train", "dev", "test")),
    _file(
        "NQ-open.train.jsonl",
        f"{_NQ_OPEN}NQ-open.train.jsonl",
        8522298,
        "0c93aaf13b12f855628489665e4ef85ffb8573ad444646f11f4fabdc57a0aabf",
    ),
    _file(
        "NQ-open.dev.jsonl",
        f"{_NQ_OPEN}NQ-open.dev.jsonl",
        391316,
        "f15567f38099f3615f5b8a685c0aef449c11ad90d3da3735e8d1b98115b40616",
    ),
)
_NQ_PASSAGES_FILES = (
    RemoteFile(
        name="mrqa-nq-train.jsonl.gz",
        address=f"{_MRQA}train/NaturalQuestionsShort.jsonl.gz",
        bytes=116612493,
        sha256="6cdac324664b94b60be3203a077bf361d0bfa68a17af9b71def1186a6958a68c",
        convert="mrqa",
        to=("nq-passages-train.json.gz",),
    ),
    RemoteFile(
        name="mrqa-nq-dev.jsonl.gz",
        address=f"{_MRQA}dev/NaturalQuestionsShort.jsonl.gz",
        bytes=10424248,
        sha256="2ba8b2181b520f81b49d62c0e4a23819f33d5dec0e8cf4a623edcda0feb73530",
        convert="mrqa",
        to=("nq-passages-dev.json.gz",),
    ),
)
_WEBQ_FILES = (
    *(
        _file(f"webquestions.examples.{split}.json.bz2", f"{_WEBQ}webquestions.examples.{split}.json.bz2")
        for split in ("train", "test")
    ),
    _file("webq-test.qa.csv", f"{_DPR}data/retriever/webquestions-test.qa.csv"),
)
_TREC_FILES = (
    _file("large2180-train.tsv", f"{_TREC}large2180-train.tsv"),
    _file("large2180-test.tsv", f"{_TREC}large2180-test.tsv"),
    _file("curatedtrec-test.qa.csv", f"{_DPR}data/retriever/curatedtrec-test.qa.csv"),
)
_TQA_FILES = (
    *(
        _file(f"trivia-{split}.qa.csv.gz", f"{_DPR}data/retriever/trivia-{split}.qa.csv.gz")
        for split in ("train", "dev", "test")
    ),
    RemoteFile(
        name="triviaqa-unfiltered.tar.gz",
        address="https://nlp.cs.washington.edu/triviaqa/data/triviaqa-unfiltered.tar.gz",
        bytes=632549060,
        sha256="7f0c94207fd0a1eb7bba3d52cdfe0735c98de850b9e5aa4e75f2776ef9a531d0",
        convert="triviaqa",
        to=("triviaqa-train.jsonl", "triviaqa-dev.jsonl"),
    ),
)
_KILT_FILES = tuple(
    _file(f"{name}-kilt.jsonl", f"{_KILT}{name}-kilt.jsonl", size, sha256)
    for name, size, sha256 in (
        ("trex-train", 1752330104, "724a8a0fd1f99fe9b15cf6309d7ce63dcb7cd31f33aea717ff26e6d6b6fbdd97"),
        ("trex-dev", 3803558, "7ee1a2cd351d928d01ede1763ae8d6ae442a00b07deef80e347852f20a029e5f"),
        ("trex-test_without_answers", 895854, "0a2c6a31ebea567e7a8b31c44bf2fb59dab601c8da6de7f3a53419c7710bdc43"),
        ("structured_zeroshot-train", 71444475, "f666359fa2b23e75d700bd1f25efd12d3bf981b1be70d8ad2d268d67e9bb3a5d"),
        ("structured_zeroshot-dev", 2266707, "dd120ba5b62c6499f4e79bf5bf5a908eb96b583ba9bf8c76a4535ac21c5dac8d"),
        (
            "structured_zeroshot-test_without_answers",
            1216038,
            "3353137527c6fe9e48910e2c4d94d3ac01352c52e90a618beaaa807968fd39da",
        ),
    )
)
_KILT_ARTICLES = RemoteFile(
    name="kilt_knowledgesource.json",
    address=f"{_KILT}kilt_knowledgesource.json",
    bytes=37318876722,
    sha256="f966d6f09c4ff91656db5c56c384f136b0c495c7083c043586b8cb1033c389a5",
    convert="kilt-articles",
    to=("kilt-articles.jsonl.gz",),
)
_PASSAGES = _file(
    "psgs_w100.tsv.gz",
    f"{_DPR}wikipedia_split/psgs_w100.tsv.gz",
    4694541059,
    "c39b020c855a2b5c25ffef3abe4a3b6f9b829ad7dbc14ec3d163d34d7c53ea8d",
)
_DUMP = RemoteFile(name="{wiki}-{date}-pages-articles.xml.bz2", address=f"{_DUMPS}{{wiki}}/{{date}}/{{name}}")

_READING = "eval reading, train reader, train phrases, generate"
_OPEN = "eval open, train queries, generate distant"
_TEXT = "CC BY-SA 3.0"
_NOT_STATED = "not stated by its owners"

DATA_SETS = {
    each.name: each
    for each in (
        DataSet(name="squad", title="SQuAD 1.1", licence="CC BY-SA 4.0", used_by=_READING, files=_SQUAD_FILES),
        DataSet(
            name="squad2",
            title="SQuAD 2.0, with unanswerable questions",
            licence="CC BY-SA 4.0",
            used_by=_READING,
            files=_SQUAD_2_FILES,
        ),
        DataSet(
            name="nq",
            title="Natural Questions: DPR's splits, which the paper has, and NQ-open",
            licence=_TEXT,
            used_by=_OPEN,
            files=_NQ_FILES,
        ),
        DataSet(
            name="nq-passages",
            title="Natural Questions with their passages, as MRQA 2019 prepared them",
            licence=_TEXT,
            used_by=_READING,
            files=_NQ_PASSAGES_FILES,
        ),
        DataSet(name="webq", title="WebQuestions", licence="CC BY 4.0", used_by=_OPEN, files=_WEBQ_FILES),
        DataSet(
            name="trec",
            title="CuratedTREC (large2180) with answers as patterns",
            licence=_NOT_STATED,
            used_by=_OPEN,
            files=_TREC_FILES,
        ),
        DataSet(
            name="tqa",
            title="TriviaQA: DPR's splits, which the paper has, and the unfiltered set",
            licence=_NOT_STATED,
            used_by=_OPEN,
            files=_TQA_FILES,
        ),
        DataSet(
            name="kilt",
            title="T-REx and Zero-Shot RE, facts of KILT",
            licence="MIT for KILT; see the data sets it takes from",
            used_by="eval slots, train queries",
            files=_KILT_FILES,
        ),
        DataSet(
            name="kilt-wikipedia",
            title="KILT's Wikipedia of 2019-08-01, whose ids its provenance has",
            licence=_TEXT,
            used_by="index",
            files=(_KILT_ARTICLES,),
        ),
        DataSet(
            name="wikipedia",
            title="Wikipedia's dump of all articles, by language and date",
            licence="CC BY-SA 4.0 (before June 2023: 3.0)",
            used_by="index (extra wiki)",
            files=(_DUMP,),
        ),
        DataSet(
            name="wikipedia-passages",
            title="DPR's passages of 100 words of Wikipedia of 2018-12-20, the paper's corpus",
            licence=_TEXT,
            used_by="index",
            files=(_PASSAGES,),
        ),
    )
}


def find_data_set(name: str, language: str = "en", date: str = "latest") -> DataSet:
    """The data set of that name; language and date choose the dump of Wikipedia."""
    found = DATA_SETS.get(name)
    if found is None:
        raise ConfigError(f"There is no data set '{name}'; known are {', '.join(DATA_SETS)}.{meant(name, DATA_SETS)}")
    if name != "wikipedia":
        return found
    return replace(found, files=(_dump(language, date),))


def _dump(language: str, date: str) -> RemoteFile:
    if not re.fullmatch(r"[a-z][a-z_-]*[a-z]", language):
        raise ConfigError(f"language={language!r} is no code of a Wikipedia; expected one such as en, simple or de.")
    if date != "latest" and not re.fullmatch(r"\d{8}", date):
        raise ConfigError(f"date={date!r} is no date of a dump; expected 'latest' or one such as 20181220.")
    wiki = language.replace("-", "_") + "wiki"
    name = _DUMP.name.format(wiki=wiki, date=date)
    address = _DUMP.address.format(wiki=wiki, date=date, name=name)
    return RemoteFile(name=name, address=address, sha1_list=f"{_DUMPS}{wiki}/{date}/{wiki}-{date}-sha1sums.txt")
