"""Models in torch: backbone, towers, reader, question generator. Only this package and `train` import torch."""
