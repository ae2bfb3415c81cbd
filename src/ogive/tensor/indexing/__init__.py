"""Elements by their positions: indices, gathers, scatters, masks."""
