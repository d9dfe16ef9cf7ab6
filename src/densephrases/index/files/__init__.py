"""Files of an index: written durably, mapped into memory, locked by their one writer."""
