"""Comparison of phrases and passages with gold answers."""
