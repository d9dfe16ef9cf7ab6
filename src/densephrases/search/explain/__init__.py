"""Why an answer stands where it stands: the parts of its score, and the evidence around it."""
