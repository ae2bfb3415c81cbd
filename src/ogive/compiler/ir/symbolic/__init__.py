"""Index expressions: their bounds, their simplification, their values."""
