"""What programs name of layers besides the layers themselves."""
