"""Rewrites of a new parametric graph, after the caches: what is asked becomes what is computed."""
