"""PyTorch's interfaces for several processes. Most of them run in one process only."""
