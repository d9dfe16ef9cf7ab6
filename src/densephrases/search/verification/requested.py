"""What a request wants verified, and whether the model can."""

from densephrases.built_once import BuiltOnce
from densephrases.errors import ConfigError
from densephrases.model.encoder import Encoder
from densephrases.search.confidence import RIVALS
from densephrases.search.request import DEFAULT_VERIFY, SearchRequest, Verify
from densephrases.search.verification.verifier import RESULTS_PER_PASSAGE, Verifier
from densephrases.search.verification.weights import VerificationWeights


class RequestedVerification:
    """Verification by one model, with or without fitted confidences."""

    def __init__(self, encoder: Encoder, *, calibrated: bool) -> None:
        self._encoder = encoder
        self._calibrated = calibrated

    @BuiltOnce
    def verifier(self) -> Verifier:
        values = self._encoder.config.verification
        weights = VerificationWeights() if values is None else VerificationWeights.from_dict(values)
        return Verifier(self._encoder, weights)

    def passages(self, request: SearchRequest) -> Verify:
        """What the request says, or the default, which models without a reading head or confidences do not have."""
        if request.verify is not None:
            return request.verify
        return DEFAULT_VERIFY if self._encoder.config.reads and self._calibrated else 0

    def results(self, request: SearchRequest) -> int:
        """How many results it needs, whatever k."""
        verify = self.passages(request)
        passages = self.verifier.weights.passages if verify == "auto" else verify
        return max(RIVALS, RESULTS_PER_PASSAGE * passages) if passages else 0

    def refuse_unfit(self, request: SearchRequest) -> None:
        verify = self.passages(request)
        if verify and not self._encoder.config.reads:
            raise ConfigError(
                f"verify={verify!r} needs a model that reads, and that of base '{self._encoder.config.base}' has no "
                "reading head; leave verify at 0 or open the index with another model."
            )
        if verify == "auto" and not self._calibrated:
            raise ConfigError(
                "verify='auto' needs a model with a calibration, which this one lacks; give a number of passages, or "
                "fit confidences with `densephrases tune confidence`."
            )
