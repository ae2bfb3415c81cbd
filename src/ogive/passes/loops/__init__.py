"""Regions become loops over counters; axes are merged, split, cut into blocks."""
