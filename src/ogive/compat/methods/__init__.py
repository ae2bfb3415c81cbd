"""What tensors have for the sake of programs written for PyTorch or NumPy."""
