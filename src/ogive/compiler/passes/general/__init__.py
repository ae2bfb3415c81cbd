"""Graphs that differ in numbers only, as one graph over variables."""
