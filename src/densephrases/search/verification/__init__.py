"""Verification: the passages of the first results are read again together with the question, and reranked."""
