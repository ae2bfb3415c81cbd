"""Gradients of eager tensors: records, and the backward pass over them."""
