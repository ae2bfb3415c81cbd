"""Forms of elementwise operations."""
