"""Answers from any body of text: the exact phrase and where it stands."""
