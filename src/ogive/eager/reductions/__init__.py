"""Forms of what goes over axes."""
