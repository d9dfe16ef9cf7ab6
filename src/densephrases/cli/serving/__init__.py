"""Commands that answer requests of others, and the options of an HTTP service."""
