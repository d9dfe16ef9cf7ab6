"""Stored token vectors and scores with them."""
