"""Attention on tensor cores: one kernel works scores out, uses and forgets them."""
