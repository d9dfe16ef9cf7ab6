"""From vectors to phrases."""
