"""Gradients of tensors: leaves, hooks, and functions with known gradients."""
