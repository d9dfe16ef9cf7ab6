"""Published data sets: where they are, how their files get here, and what is made of them for the commands."""
