"""Forms of movements, joins, positions and orders."""
