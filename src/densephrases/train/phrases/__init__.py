"""Training of the phrase model: examples, batches, losses, negatives, distillation."""
