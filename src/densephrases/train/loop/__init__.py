"""One training loop for every task: steps, checkpoints, logs, recipes."""
