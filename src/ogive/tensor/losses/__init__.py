"""Losses between the outputs of a network and targets."""
