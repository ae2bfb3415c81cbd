"""Assignments in place: which version of a buffer each node reads, and what is copied for that."""
