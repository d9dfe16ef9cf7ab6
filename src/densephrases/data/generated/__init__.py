"""Files of generated questions, and what finds passages for questions: source passages, BM25, located answers."""
