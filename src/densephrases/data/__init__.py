"""Annotated data: questions, passages, gold answers, and the files that hold them."""
