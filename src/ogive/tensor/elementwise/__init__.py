"""Functions of each element by itself, of one tensor or of several that broadcast."""
