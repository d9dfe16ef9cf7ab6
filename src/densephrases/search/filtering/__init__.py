"""Conditions on metadata and ids, and the documents that meet them."""
