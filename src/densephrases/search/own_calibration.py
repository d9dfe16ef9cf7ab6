"""Which calibration a search uses: one that was fitted to questions about the index, or else the model's."""

import json
import logging
from hashlib import sha256
from pathlib import Path

from densephrases.errors import ConfigError, PhraseIndexError
from densephrases.index.fitted_confidence import CONFIDENCE_FILE, fitted_confidences
from densephrases.model.encoder import Encoder
from densephrases.search.confidence import Calibration

_DIGITS = 16

log = logging.getLogger(__name__)


def calibration_digest(encoder: Encoder) -> str:
    """Identifies the passage encoder and all weights of the model that scores and confidences depend on."""
    config = encoder.config
    weights = [config.confidence, config.ranking, config.lexical_weight, config.length_penalty]
    return sha256(json.dumps([encoder.fingerprint, *weights], sort_keys=True).encode()).hexdigest()[:_DIGITS]


def model_calibration(encoder: Encoder) -> Calibration | None:
    values = encoder.config.confidence
    return None if values is None else Calibration.from_dict(values)


def calibration_of(folder: Path, encoder: Encoder) -> Calibration | None:
    """Of an index folder and a model; None if the model has none. What was fitted for another model is ignored."""
    of_model = model_calibration(encoder)
    if of_model is None or encoder.query_encoder is None:
        return of_model
    fitted = fitted_confidences(folder).get(encoder.query_encoder)
    if fitted is None:
        return of_model
    if fitted.model != calibration_digest(encoder):
        log.warning(
            "The model has changed since its confidences were fitted to questions about '%s': they are ignored; "
            "fit them again with `densephrases tune confidence`.",
            folder,
        )
        return of_model
    try:
        return Calibration.from_dict(fitted.weights)
    except ConfigError as error:
        raise PhraseIndexError(
            f"'{folder / CONFIDENCE_FILE}' has no weights of a confidence; remove it with "
            "`densephrases tune confidence INDEX --reset` and fit it again."
        ) from error
