"""Reductions and scans: how they are split among threads, joined, or left out."""
