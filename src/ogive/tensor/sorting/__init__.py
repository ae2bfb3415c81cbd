"""Sorting, order statistics, and searches in sorted sequences."""
