"""Files and dumps to documents; `read` finds the reader of each."""
