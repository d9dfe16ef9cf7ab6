"""Objects of a long list, whatever the size of the blocks that are read."""

import io
import json
from pathlib import Path

import pytest

from densephrases.data.download import json_stream
from densephrases.data.download.json_stream import objects_under
from densephrases.errors import DataError

ENTRIES = [{"text": 'a]}",\\ ä€', "inner": [{"Data": [1, 2]}]}, {}, {"n": 1}]


@pytest.mark.parametrize("block", [1, 2, 3, 7, 1 << 20])
@pytest.mark.parametrize("indent", [None, 4])
def test_objects(block: int, indent: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_BLOCK", block)
    content = json.dumps({"Domain": "x", "Data": ENTRIES, "Version": 1.0}, indent=indent, ensure_ascii=False)
    assert list(objects_under(io.BytesIO(content.encode()), "Data", Path("f"))) == ENTRIES


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"data": []}', "'f' holds no list under 'Data'"),
        ('{"Data": [{"a": 1}, {"b"', "'f' ends inside the list under 'Data', or it is not JSON"),
        ('{"Data": [1]}', "'f' has int under 'Data', expected objects"),
    ],
)
def test_other_files(content: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(objects_under(io.BytesIO(content.encode()), "Data", Path("f")))
