"""From torch to ONNX graphs, to int8, and back."""
