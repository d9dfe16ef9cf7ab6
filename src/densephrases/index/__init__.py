"""Documents on disk as token vectors: immutable segments, deletion marks and a manifest that names what is true."""
