"""Instructions on vectors: arithmetic, conversions, sums across lanes, transposes, exchanges."""
