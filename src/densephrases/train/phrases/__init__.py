"""The phrase model: examples, batches, losses, negatives, distillation."""
