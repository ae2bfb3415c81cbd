"""Making tensors from shapes, ranges, the user's data and random draws."""
