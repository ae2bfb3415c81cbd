"""What ops mean for arrays of NumPy's: the tables that the reference device computes with."""
