"""Whether a phrase or a passage has a gold answer."""
