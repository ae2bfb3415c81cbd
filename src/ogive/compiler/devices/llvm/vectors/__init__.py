"""Instructions on vectors: arithmetic, conversions, lane reductions, transposes, exchanges."""
