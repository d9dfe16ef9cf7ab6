"""The routes: what comes in, what goes out."""
