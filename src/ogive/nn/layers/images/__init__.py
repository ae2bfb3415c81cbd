"""Layers of images: convolutions, pooling and its inverse, samples at places of a grid."""
