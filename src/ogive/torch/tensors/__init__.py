"""Tensors and functions whose meaning in PyTorch differs from that in `ogive`."""
