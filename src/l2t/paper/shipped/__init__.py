"""Reflection functions that come with the package, by name."""
