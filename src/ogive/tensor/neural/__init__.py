"""The functions of neural network layers."""
