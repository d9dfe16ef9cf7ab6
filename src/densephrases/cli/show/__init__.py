"""What a person sees: answers, progress, tables."""
