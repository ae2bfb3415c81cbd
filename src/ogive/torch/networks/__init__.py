"""Modules and layers where PyTorch differs from `ogive`, and further names that programs use."""
