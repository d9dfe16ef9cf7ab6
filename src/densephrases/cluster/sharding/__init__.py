"""An index in shards, without Ray: what a shard computes, and how results of all are merged to those of one machine."""
