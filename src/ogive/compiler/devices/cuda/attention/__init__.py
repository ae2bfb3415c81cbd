"""Attention on tensor cores: one kernel computes the scores and uses them without storing them."""
