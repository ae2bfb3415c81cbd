"""Staged values, which a kernel keeps in scratch memory: their loops, their layout, sorting."""
