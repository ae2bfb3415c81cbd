"""Products: the layout of their axes, elements and operands for tiles and tensor cores."""
