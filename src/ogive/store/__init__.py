"""What outlives the process: compiled graphs, kernels and code on disk, checked when read."""
