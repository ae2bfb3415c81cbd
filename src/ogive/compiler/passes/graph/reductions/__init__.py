"""Reductions and scans: splitting them among threads, joining them, leaving them out."""
