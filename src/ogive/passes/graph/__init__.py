"""Rewrites of the parametric graph: from what the user wrote to what is to be computed."""
