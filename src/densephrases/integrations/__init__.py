"""Adapters to other frameworks, one per module; each needs the extra of its name."""
