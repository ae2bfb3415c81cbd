"""Transforms of functions: gradients, Jacobians, vectorization, checkpoints, checks."""
