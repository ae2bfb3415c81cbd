"""What each op hands down to its sources, as nodes."""
