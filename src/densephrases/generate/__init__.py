"""Questions that nobody asked: candidate answers, questions for them, and a filter (paper §4.1)."""
