"""The gradient rules of the ops."""
