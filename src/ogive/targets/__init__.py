"""Targets: a device's abilities and costs, which are all that the passes know of it."""
