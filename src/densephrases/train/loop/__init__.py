"""The training loop that all tasks share: steps, checkpoints, logs, recipes."""
