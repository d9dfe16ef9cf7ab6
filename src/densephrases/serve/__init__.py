"""The HTTP service: the application, its settings and its server."""
