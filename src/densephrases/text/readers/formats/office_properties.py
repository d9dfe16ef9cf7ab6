"""Title and metadata that office programs store beside a document."""

from datetime import datetime
from typing import Any

# What programs write if nobody gave a title.
_NO_TITLES = frozenset(
    ["word document", "powerpoint presentation", "powerpoint-präsentation", "présentation powerpoint"]
)


def title_and_metadata(core: Any, heading: str, stem: str) -> tuple[str, dict[str, Any]]:
    """The title that was given, else the first heading, else the name of the file; the author and the last change."""
    given = " ".join(str(core.title or "").split())
    title = "" if given.lower() in _NO_TITLES or given.lower().startswith("microsoft ") else given
    changed = core.modified if isinstance(core.modified, datetime) else None
    metadata = {"author": str(core.author or "").strip(), "modified": changed.date().isoformat() if changed else ""}
    return title or heading or stem, {key: value for key, value in metadata.items() if value}
