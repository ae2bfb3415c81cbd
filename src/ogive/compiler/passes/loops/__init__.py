"""Regions become loops over counters; their axes are merged, split and cut into blocks."""
