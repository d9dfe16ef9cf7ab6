"""Data augmentation: generating questions and filtering them by a round trip through a reader."""
