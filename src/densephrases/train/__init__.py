"""Learning the encoders: examples, losses, one loop, and what is trained with it. Needs the extra `train`."""
