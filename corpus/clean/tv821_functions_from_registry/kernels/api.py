"""The functions of the registry."""
