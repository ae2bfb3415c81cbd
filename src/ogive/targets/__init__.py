"""What a device offers, and what things cost there: all that the passes know of it."""
