"""Models without torch: configuration and folders, tokenizer, the encoder interface and its ONNX implementation."""
