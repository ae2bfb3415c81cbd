"""Forms of products and of matrices."""
