"""PyTorch's names and calls beside the standard's: `ogive.topk(x, 3)`, `ogive.long`."""
