"""Generated questions as training data: generation and the round-trip filter."""
