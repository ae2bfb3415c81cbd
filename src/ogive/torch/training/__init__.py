"""Gradients, and what is done with them: optimizers, mixed precision, recomputation, transforms."""
