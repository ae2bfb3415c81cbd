"""Names of PyTorch, NumPy, the array API standard and einops that are not ours."""
