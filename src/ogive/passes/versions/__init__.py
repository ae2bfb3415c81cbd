"""Assignments in place: which version of a buffer is read, and what is copied so that it can be."""
