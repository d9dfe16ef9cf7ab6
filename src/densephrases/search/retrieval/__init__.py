"""What a search asks of a collection, wherever its segments are: counts, and the best phrases of questions."""
