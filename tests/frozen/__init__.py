"""The public names, and the command line, as they are written down; `python -m tests.frozen` writes them anew."""
