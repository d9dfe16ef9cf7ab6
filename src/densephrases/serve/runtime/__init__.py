"""What a running service holds: the live index, batches, metrics, logs."""
