"""Values that belong to products: scores, operands and results on tensor cores, attention."""
