"""Gradients of eager tensors: records, and the way back over them."""
