"""Gradients as tensors have them: attributes, hooks, and values with gradients of their own."""
