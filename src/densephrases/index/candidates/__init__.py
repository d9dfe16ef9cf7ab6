"""Token vectors worth scoring: exact for small segments, approximate for larger ones."""
