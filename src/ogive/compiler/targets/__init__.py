"""Targets: the abilities and costs of a device, which are all that the passes know about it."""
