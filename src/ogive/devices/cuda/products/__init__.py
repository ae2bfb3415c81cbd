"""Matrix products on tensor cores: from a description of the product to kernels and launches."""
