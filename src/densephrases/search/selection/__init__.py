"""Which of the ranked phrases are results: distinct ones, and of enough places."""
