"""Annotated data: questions, passages, gold answers and their file formats; no models, no indexes."""
