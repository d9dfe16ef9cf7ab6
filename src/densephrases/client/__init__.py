"""A served index, used as if it were here."""
