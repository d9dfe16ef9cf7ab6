"""Figures of the documentation; `python -m docs.figures` draws them into docs/images."""
