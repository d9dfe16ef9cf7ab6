"""Attacks on the promises of docs/reliability.md: kills, faults of the disk, damage, fuzzed inputs, load."""
