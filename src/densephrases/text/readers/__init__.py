"""One reader per file format; `read` chooses the reader by suffix."""
