"""Documents laid out as pages, to be read by people: HTML and PDF."""
