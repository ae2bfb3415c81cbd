"""A function and a call become a compiled graph."""
