"""Rewrites of a parametric graph that no cache knows, before it is cut into kernels."""
