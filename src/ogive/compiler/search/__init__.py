"""Beam search for faster kernels: placements are timed against each other in another process."""
