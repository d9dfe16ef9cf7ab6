"""Query-side fine-tuning over a frozen index."""
