"""What query-side fine-tuning teaches to retrieve."""

from typing import Literal

Target = Literal["phrase", "fact", "passage", "document"]
"""The answer itself, the answer in a relevant document, or a passage or document that contains it."""
