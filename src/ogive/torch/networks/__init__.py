"""Modules and layers as PyTorch has them, and what programs name besides the layers themselves."""
