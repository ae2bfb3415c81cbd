"""Which element stands where: shapes, parts, repeats, joins. Nothing is computed."""
