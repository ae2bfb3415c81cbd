"""Methods of tensors for the sake of programs written for PyTorch or NumPy."""
