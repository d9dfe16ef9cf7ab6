"""Building an index on Ray: a plan of tasks, actors that encode them and write segments, and one commit."""
