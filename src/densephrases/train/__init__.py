"""Training of readers, phrase models, question generators and query encoders. Requires the extra `train`."""
