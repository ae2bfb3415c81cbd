"""Values that a kernel keeps for itself: who computes them, where they lie, how they are sorted."""
