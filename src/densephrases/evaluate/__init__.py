"""Measurements: the paper's evaluations, their metrics, and settings tuned by them; no search needs them."""
