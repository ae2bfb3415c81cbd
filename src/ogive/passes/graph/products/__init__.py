"""Products: how their axes, elements and operands are laid out for tiles and tensor cores."""
