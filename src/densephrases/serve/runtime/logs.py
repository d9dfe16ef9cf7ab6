"""The log: one JSON object a line, without what people asked unless that is wanted."""

import json
import logging
import time
from collections.abc import Sequence
from typing import Any

from densephrases.serve.settings import ServiceSettings


class JsonLines(logging.Formatter):
    """A log record as a JSON object; what is in `extra={"fields": ...}` are names of its own."""

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        shown = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "process": record.process,
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            shown["exception"] = self.formatException(record.exc_info)
        return json.dumps(shown)


def logged_questions(questions: Sequence[str], settings: ServiceSettings) -> dict[str, Any]:
    """Their number, or themselves."""
    return {"questions": list(questions) if settings.log_questions else len(questions)}
