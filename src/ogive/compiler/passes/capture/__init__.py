"""Passes that run for every graph, before the caches: a tensor graph becomes parametric."""
