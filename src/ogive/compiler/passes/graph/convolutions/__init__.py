"""Convolutions: the layout of their images, and those computed by Winograd's form."""

WINDOW_RANKS = (6, 8, 10)
"""The number of axes of windows times filters, for lines, images and volumes."""
