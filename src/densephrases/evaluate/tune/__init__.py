"""Settings of a model chosen on a dev set."""
