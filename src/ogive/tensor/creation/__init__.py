"""Tensors from shapes, ranges, the user's data and random draws."""
