"""The texts of tensors, sizes, dtypes and devices, as PyTorch prints them."""
