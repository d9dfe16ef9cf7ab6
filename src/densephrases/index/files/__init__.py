"""Files of an index: written durably, mapped into memory, verified when read, locked by their one writer."""
