"""The steady call of a captured function."""
