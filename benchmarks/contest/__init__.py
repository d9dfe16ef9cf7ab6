"""What `peers.py` sets side by side: retrievers with a reader, and how all are measured."""
