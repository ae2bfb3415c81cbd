"""Movement of elements without computation: shapes, parts, repeats, joins."""
