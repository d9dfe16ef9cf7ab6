"""The options of a search, checked where they are made."""

import subprocess
import sys
from typing import Any

import pytest

from densephrases.errors import ConfigError
from densephrases.search.filtering.filters import Filter
from densephrases.search.request import SearchRequest, search_request


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"k": 0}, "k=0"),
        ({"k": True}, "k=True"),
        ({"unit": "word"}, "unit='word' is unknown; expected one of phrase, sentence, passage, document"),
        ({"min_confidence": float("nan")}, "min_confidence=nan"),
        ({"effort": "high"}, "effort='high'"),
        ({"lexical_weight": -1}, "lexical_weight=-1 is no weight"),
        ({"verify": -1}, "verify=-1 is no number of passages to read; expected 'auto' or a whole number from 0 to 100"),
        ({"verify": True}, "verify=True"),
        ({"verify": "always"}, "verify='always'"),
        ({"verify": 101}, "verify=101"),
        ({"where": "lang=en"}, "where='lang=en'"),
        ({"documents": "ada"}, "documents='ada'"),
    ],
)
def test_mistakes_are_refused_when_a_request_is_made(options: dict[str, Any], names: str) -> None:
    with pytest.raises(ConfigError) as error:
        SearchRequest(**options)
    assert names in str(error.value)


def test_options_override_a_request() -> None:
    request = SearchRequest(k=3, unit="sentence")
    assert search_request(None, None, {}) == SearchRequest()
    assert search_request(request, None, {}) == request
    assert search_request(request, 7, {"effort": 1}) == SearchRequest(k=7, unit="sentence", effort=1)


def test_an_unknown_option_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        ConfigError, match=r"'words' is no option of a search; expected one of k, unit, overlapping, where, .*weight"
    ):
        search_request(None, 5, {"words": 1.0})


def test_an_iterator_of_documents_can_be_searched_twice() -> None:
    request = SearchRequest(documents=iter(["a", "b"]))
    assert request.filter == request.filter == Filter.from_conditions(None, ["a", "b"])


def test_equal_requests_have_equal_hashes() -> None:
    one, same, other = (SearchRequest(where={"lang": value}, documents=["a"]) for value in ("en", "en", "de"))
    assert one == same != other
    assert hash(one) == hash(same)


def test_a_request_needs_no_numpy() -> None:
    code = "import sys, densephrases.search.request; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "False"
