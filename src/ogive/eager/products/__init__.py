"""Forms of products and of matrix functions."""
