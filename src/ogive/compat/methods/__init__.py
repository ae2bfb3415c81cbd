"""Methods of tensors for programs written for PyTorch or NumPy."""
