"""Query-side fine-tuning: the query encoder learns to retrieve from a frozen index."""
