"""The meaning of ops on NumPy arrays: the tables with which the reference device computes."""
