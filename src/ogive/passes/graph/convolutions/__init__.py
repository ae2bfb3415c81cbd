"""Convolutions: how their images lie in memory, and which of them are computed in another form."""
