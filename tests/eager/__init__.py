"""Tensors whose operations are done at once, beside PyTorch."""
