"""Values of tensors: computing and converting them, giving them to Python, NumPy and others."""
