"""Layers of sequences: attention, transformers, recurrent layers and their cells."""
