"""The version, alone: whoever asks for it imports nothing else."""

__version__ = "0.2.0"
