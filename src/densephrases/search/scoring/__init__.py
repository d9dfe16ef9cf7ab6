"""Candidate tokens to scored phrases."""
