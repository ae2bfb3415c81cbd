"""Values computed, converted and given out: to Python, NumPy and other libraries."""
