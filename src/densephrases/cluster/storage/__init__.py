"""Where indexes are: a folder that every machine sees, or an object store, written and read by one interface."""
