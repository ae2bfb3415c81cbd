"""How PyTorch's programs see things printed: tensors, sizes, dtypes, devices."""
