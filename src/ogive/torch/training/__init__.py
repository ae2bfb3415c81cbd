"""Gradients, optimizers, mixed precision, recomputation, and transforms of functions."""
