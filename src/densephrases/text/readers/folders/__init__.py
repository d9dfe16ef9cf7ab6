"""Files below folders: which are read, what their documents are called, and what was left out or skipped."""
