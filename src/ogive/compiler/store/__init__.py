"""The caches on disk: compiled graphs, kernels and code, which are checked when they are read."""
