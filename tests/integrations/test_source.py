"""What the adapters search."""

from pathlib import Path

import pytest

from densephrases.errors import ConfigError
from densephrases.integrations.source import Source, answer_metadata
from densephrases.search.phrase_index import PhraseIndex
from tests.serve.running import CITIES, QUESTION, running


def test_a_folder_and_a_service_give_the_same(folder: Path) -> None:
    index = PhraseIndex.open(folder)
    expected = index.search(QUESTION, 2, unit="sentence")
    with running(index) as service:
        for source in (Source(str(folder)), Source(f"http://127.0.0.1:{service.port}")):
            found = source.search(QUESTION, 2, unit="sentence")
            assert [answer_metadata(each) for each in found] == [answer_metadata(each) for each in expected]
            assert source.document("paris") == CITIES[2]
            assert source.documents() == len(CITIES)


def test_a_service_has_its_own_model() -> None:
    with pytest.raises(ConfigError, match="model='small' is given for a service"):
        Source("http://127.0.0.1:8080", model="small")
