"""Vectors to a few bytes and back: scalar and product quantizers, and how their codebooks are learned."""
