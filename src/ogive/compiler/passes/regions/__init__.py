"""Cutting of the parametric graph into regions, one for each kernel, and their order."""
