"""Matrix products on tensor cores: a description of the product → kernels and launches."""
