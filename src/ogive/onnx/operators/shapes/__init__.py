"""Operators of which element stands where.

movement  elements moved, tensors made, shapes told
indexing  elements read and written by index, sorted, searched
"""
