"""The documents of an index: those that are stored, and changes to them."""
