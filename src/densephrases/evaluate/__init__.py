"""How right the answers are: data sets, metrics, and the paper's evaluations."""
