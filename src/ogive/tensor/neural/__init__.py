"""What the layers of neural networks compute."""
