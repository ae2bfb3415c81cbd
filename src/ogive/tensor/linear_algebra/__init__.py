"""Products of matrices and tensors, and matrices solved and decomposed."""
