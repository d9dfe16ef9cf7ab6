"""Passages to vectors and bytes on a GPU, without padding."""
