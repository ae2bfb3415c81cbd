"""Forms of movements, joins, indexing and sorting."""
