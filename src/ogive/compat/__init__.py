"""Compatibility with PyTorch, NumPy, the array API standard and einops: names that Ogive lacks."""
