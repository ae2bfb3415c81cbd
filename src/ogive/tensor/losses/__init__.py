"""Losses between outputs of networks and targets."""
