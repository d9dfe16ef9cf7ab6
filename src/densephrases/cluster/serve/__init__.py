"""Ray Serve deployments of the shards of an index, of the question encoder and of the HTTP service before them."""
