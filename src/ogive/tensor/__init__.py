"""Capture: Python calls become a tensor graph. Nothing is computed here."""
