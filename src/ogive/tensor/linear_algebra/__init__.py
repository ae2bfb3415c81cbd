"""Products of matrices and tensors, solvers and decompositions."""
