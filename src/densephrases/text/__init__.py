"""Documents and how their text divides into passages, sentences, words and terms; character offsets are always kept."""
