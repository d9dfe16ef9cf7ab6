"""Export of torch models to ONNX graphs, in fp32 and int8, and the way back."""
