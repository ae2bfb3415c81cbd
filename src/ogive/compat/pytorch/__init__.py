"""PyTorch's names and calls in `ogive`: `ogive.topk(x, 3)`, `ogive.long`."""
