"""Data augmentation: generated questions, distant supervision, and filtering both by a round trip through a reader."""
