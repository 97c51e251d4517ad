"""The training of a counter of fish."""
