"""Functions that the layers of neural networks compute."""
