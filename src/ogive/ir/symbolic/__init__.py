"""Index expressions: their bounds, their rules, their values."""
