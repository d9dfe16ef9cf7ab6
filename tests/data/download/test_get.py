"""A data set in a folder, and the official formats that the commands read as they are."""

import bz2
import csv
import gzip
import io
import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from densephrases.data.download.catalog import DataSet, RemoteFile
from densephrases.data.download.convert import CONVERSIONS
from densephrases.data.download.fetch import UnreachableError
from densephrases.data.download.get import CONVERTED_FILE, PresentFile, get_data_set
from densephrases.data.download.verify import SUMS_FILE
from densephrases.data.files import read_questions
from densephrases.data.kilt import read_kilt
from densephrases.data.questions import Format, OpenQuestion
from densephrases.data.squad import read_squad, sample_path
from densephrases.errors import DataError
from densephrases.text.readers.read import read_documents

from .conftest import Web
from .test_convert import TEXT, mrqa_file, mrqa_question

SAMPLE = sample_path().read_bytes()


def data_set(*files: RemoteFile) -> DataSet:
    return DataSet(name="mine", title="t", licence="l", used_by="u", files=files)


@pytest.fixture
def squad(web: Web) -> DataSet:
    address = web.serve("train.json", SAMPLE)
    return data_set(RemoteFile(name="train.json", address=address, sha256=sha256(SAMPLE).hexdigest()))


def got(wanted: DataSet, folder: Path, *, accept_changed: bool = False) -> list[PresentFile]:
    return list(get_data_set(wanted, folder, accept_changed=accept_changed))


def test_a_second_call_downloads_nothing(squad: DataSet, web: Web, tmp_path: Path) -> None:
    (file,) = got(squad, tmp_path)
    assert file.path.read_bytes() == SAMPLE
    assert (file.check, file.downloaded, file.made_of) == ("published", True, None)
    assert file.notes[0].endswith(" questions")
    assert sorted(path.name for path in file.path.parent.iterdir()) == [SUMS_FILE, "train.json"]
    (again,) = got(squad, tmp_path)
    assert again == replace(file, downloaded=False)
    assert len(web.asked) == 1


def test_a_wrong_checksum(squad: DataSet, web: Web, tmp_path: Path) -> None:
    """Nothing of the file is left, so that the next call downloads all of it."""
    web.serve("train.json", b"<html>", etag='"v2"')
    with pytest.raises(DataError, match=r"mine/train.json' has the SHA-256 .*, expected the published .* Get it again"):
        got(squad, tmp_path)
    assert list((tmp_path / "mine").iterdir()) == []
    web.serve("train.json", SAMPLE)
    assert got(squad, tmp_path)[0].check == "published"


def test_an_unknown_checksum_is_recorded(web: Web, tmp_path: Path) -> None:
    wanted = data_set(RemoteFile(name="train.json", address=web.serve("x", SAMPLE)))
    assert [got(wanted, tmp_path)[0].check for _ in range(2)] == ["first seen", "as before"]
    (tmp_path / "mine" / "train.json").unlink()
    changed = SAMPLE.replace(b"?", b"!", 1)
    web.serve("x", changed, etag='"v2"')
    with pytest.raises(DataError, match="expected the recorded"):
        got(wanted, tmp_path)
    assert got(wanted, tmp_path, accept_changed=True)[0].sha256 == sha256(changed).hexdigest()


def test_files_that_are_put_there_by_hand(squad: DataSet, web: Web, tmp_path: Path) -> None:
    web.files.clear()
    place = str(tmp_path / "mine" / "train.json")
    with pytest.raises(
        UnreachableError, match=r"answers 404 .* Without a network, .* put it at '.*' and give"
    ) as error:
        got(squad, tmp_path)
    assert place in str(error.value)
    (tmp_path / "mine" / "train.json").write_bytes(SAMPLE)
    (file,) = got(squad, tmp_path)
    assert (file.check, file.downloaded) == ("published", False)
    file.path.write_bytes(b"damaged")
    with pytest.raises(DataError, match="expected the published"):
        got(squad, tmp_path)
    assert file.path.read_bytes() == b"damaged"  # it is the user's


def test_a_page_of_errors_is_no_data(web: Web, tmp_path: Path) -> None:
    wanted = data_set(RemoteFile(name="nq-test.qa.csv", address=web.serve("x", b"<html>Not here</html>")))
    with pytest.raises(DataError, match="begins with '<html>Not here</html>', which is none of the known formats"):
        got(wanted, tmp_path)


def test_converted_once(web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"id": "1", "context": TEXT, "qas": [mrqa_question("q", TEXT, "Paris")]}
    address = web.serve("m", mrqa_file(tmp_path, entry).read_bytes())
    wanted = data_set(RemoteFile(name="m.jsonl.gz", address=address, convert="mrqa", to=("out.json.gz",)))
    source, made = got(wanted, tmp_path)
    assert (made.made_of, made.check, made.notes) == ("m.jsonl.gz", None, ("1 entries",))
    assert source.notes == ()
    assert len(read_squad(made.path)) == 1
    monkeypatch.setitem(CONVERSIONS, "mrqa", lambda source, targets: pytest.fail("converted again"))
    assert got(wanted, tmp_path)[1].sha256 == made.sha256
    (tmp_path / "mine" / CONVERTED_FILE).write_text("damaged")
    with pytest.raises(pytest.fail.Exception, match="converted again"):
        got(wanted, tmp_path)


def table(*rows: list[str], quoted: bool = False) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter="\t", quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE, quotechar='"').writerows(
        rows
    )
    return text.getvalue().encode()


@pytest.mark.parametrize(
    ("name", "content", "form", "expected"),
    [
        (
            "nq-test.qa.csv",
            b"who sings it's you\t['Ann', \"Bob's Band\"]\n",
            "dpr",
            OpenQuestion("1", "who sings it's you", ("Ann", "Bob's Band")),
        ),
        (
            "trivia-dev.qa.csv.gz",
            gzip.compress(b'"Who said ""no""?"\t"[\'Ann\', \'A ""B"" C\']"\n', mtime=0),
            "dpr",
            OpenQuestion("1", 'Who said "no"?', ("Ann", 'A "B" C')),
        ),
        (
            "curatedtrec-test.qa.csv",
            b"When was he born?\t['Aug\\\\w+ 4,? 1961']\n",
            "dpr",
            OpenQuestion("1", "When was he born?", ("Aug\\w+ 4,? 1961",), regex=True),
        ),
        (
            "large2180-train.tsv",
            b"2051\ttrec\tWhen was he born?\tAug\\w+ 4,? 1961\n",
            "trec",
            OpenQuestion("2051", "When was he born?", ("Aug\\w+ 4,? 1961",), regex=True),
        ),
        (
            "NQ-open.dev.jsonl",
            b'{"question": "who is it", "answer": ["Ann", "Bob"]}\n',
            "nq-open",
            OpenQuestion("1", "who is it", ("Ann", "Bob")),
        ),
        (
            "webquestions.examples.train.json.bz2",
            bz2.compress(
                json.dumps(
                    [{"url": "x", "targetValue": '(list (description "Ann B") (description Bob))', "utterance": "who?"}]
                ).encode()
            ),
            "webquestions",
            OpenQuestion("1", "who?", ("Ann B", "Bob")),
        ),
    ],
)
def test_published_questions_are_read_as_they_are(
    name: str, content: bytes, form: Format, expected: OpenQuestion, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    found = read_questions(tmp_path / name)
    assert (found.format, found.questions) == (form, [expected])


def test_published_facts_are_read_as_they_are(tmp_path: Path) -> None:
    output = {"answer": "Rome", "provenance": [{"wikipedia_id": "25458", "title": "Rome", "start_paragraph_id": 1}]}
    record = {"id": "x", "input": "Nero [SEP] place of death", "output": [output], "meta": {"subj_aliases": []}}
    (tmp_path / "trex-dev-kilt.jsonl").write_text(json.dumps(record) + "\n")
    (found,) = read_kilt(tmp_path / "trex-dev-kilt.jsonl")
    assert (found.answers, found.evidence[0][0].id) == (("Rome",), "25458")


def test_published_passages_are_read_as_they_are(tmp_path: Path) -> None:
    rows = table(["id", "text", "title"], ["1", 'Aaron said "no" to the Lord.', "Aaron"], quoted=True)
    (tmp_path / "psgs_w100.tsv.gz").write_bytes(gzip.compress(rows))
    (document,) = read_documents([tmp_path / "psgs_w100.tsv.gz"])
    assert (document.id, document.title, document.text) == ("1", "Aaron", 'Aaron said "no" to the Lord.')
