"""Assignments in place: the version of a buffer that each node reads, and the copies it needs."""
