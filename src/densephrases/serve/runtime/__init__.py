"""What a running service consists of: the live index, the queue, middleware, metrics and logs."""
