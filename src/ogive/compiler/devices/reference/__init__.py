"""`REFERENCE`: evaluates regions with NumPy, one op at a time. Its results define their meaning."""
