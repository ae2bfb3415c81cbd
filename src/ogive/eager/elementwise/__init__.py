"""Forms of operations element by element."""
