"""Text as people wrote it: passages, words, and character positions that are never lost."""
