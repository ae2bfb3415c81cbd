"""`REFERENCE`: evaluates regions with NumPy, one op at a time. What it gives is what they mean."""
