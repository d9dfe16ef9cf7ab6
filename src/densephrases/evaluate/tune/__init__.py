"""Settings of a model, each chosen on a dev set: one module a setting."""
