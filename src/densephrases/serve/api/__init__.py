"""The routes, and the schemas of their requests and responses."""
