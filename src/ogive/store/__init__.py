"""Compiled graphs, kernels and code on disk, which outlive the process; checked when read."""
