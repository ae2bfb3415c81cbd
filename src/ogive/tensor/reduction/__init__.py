"""Sums, extremes, statistics and scans over axes."""
