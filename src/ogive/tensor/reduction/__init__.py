"""Sums, extremes, statistics and running results over axes."""
