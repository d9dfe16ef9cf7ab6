"""Documents to committed segments, on a CPU or a GPU."""
