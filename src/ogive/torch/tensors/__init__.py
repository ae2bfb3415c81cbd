"""Tensors and functions of them, where PyTorch means something else than `ogive`."""
