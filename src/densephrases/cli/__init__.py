"""The command `densephrases`: a command parses, calls one library function, prints."""
