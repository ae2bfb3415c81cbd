"""Reductions and scans over axes: sums, extremes, statistics."""
