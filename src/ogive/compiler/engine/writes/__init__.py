"""Runs that assign: announced, and concluded in one step; old versions that are still read."""
