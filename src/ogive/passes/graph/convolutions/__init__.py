"""Convolutions: the layout of their images, and those computed by Winograd's form."""
