"""Caches of a process: compiled graphs, kernels, placements from searches, panels."""
