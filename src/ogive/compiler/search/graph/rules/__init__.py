"""The rules of graph search: those that keep every bit, and those that change rounding."""
