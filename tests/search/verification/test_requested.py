"""What requests want verified; refusals through a search are in test_verifier."""

from dataclasses import replace
from typing import Any

import pytest

from densephrases.errors import ConfigError
from densephrases.search.confidence import RIVALS
from densephrases.search.request import SearchRequest
from densephrases.search.verification.requested import RequestedVerification
from densephrases.search.verification.verifier import RESULTS_PER_PASSAGE
from tests.search.test_searcher import QuestionEncoder


def requested(reads: bool, calibrated: bool) -> RequestedVerification:
    encoder = QuestionEncoder()
    encoder.config = replace(encoder.config, reads=reads)
    return RequestedVerification(encoder, calibrated=calibrated)


def test_how_many() -> None:
    verification = requested(reads=True, calibrated=True)
    assert verification.passages(SearchRequest()) == "auto"
    assert verification.passages(SearchRequest(verify=2)) == 2
    assert verification.results(SearchRequest(verify=0)) == 0
    assert verification.results(SearchRequest(verify=2)) == RIVALS, "as many as weights were fitted to"
    assert verification.results(SearchRequest(verify=5)) == 5 * RESULTS_PER_PASSAGE
    passages = verification.verifier.weights.passages
    assert verification.results(SearchRequest(verify="auto")) == passages * RESULTS_PER_PASSAGE
    verification.refuse_unfit(SearchRequest(verify="auto"))


@pytest.mark.parametrize(("reads", "calibrated"), [(False, True), (True, False)])
def test_models_that_cannot_read_where_confidence_is_low_do_not_read(reads: bool, calibrated: bool) -> None:
    verification = requested(reads, calibrated)
    assert verification.passages(SearchRequest()) == 0
    assert verification.results(SearchRequest()) == 0


@pytest.mark.parametrize(
    ("reads", "verify", "said"), [(False, 1, "verify=1 needs a model that reads"), (True, "auto", "needs a model with")]
)
def test_models_that_cannot(reads: bool, verify: Any, said: str) -> None:
    verification = requested(reads, calibrated=False)
    verification.refuse_unfit(SearchRequest())
    with pytest.raises(ConfigError, match=said):
        verification.refuse_unfit(SearchRequest(verify=verify))
