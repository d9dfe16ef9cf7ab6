"""The log: one JSON object per line; questions are logged only if the settings say so."""

import json
import logging
import time
from collections.abc import Sequence
from typing import Any

from densephrases.serve.settings import ServiceSettings


class JsonLines(logging.Formatter):
    """Formats a record as a JSON object; the values of `extra={"fields": ...}` become keys of it."""

    def format(self, record: logging.LogRecord) -> str:
        second = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{second}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "process": record.process,
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def logged_questions(questions: Sequence[str], settings: ServiceSettings) -> dict[str, Any]:
    """The questions if they may be logged, else their number."""
    return {"questions": list(questions) if settings.log_questions else len(questions)}
