"""One immutable segment: how it is written and read."""
