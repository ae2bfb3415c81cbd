"""Convolutions: how they are recognized, and in which other form they are computed."""
