"""Passes for every graph asked for, before the caches: a tensor graph becomes parametric."""
