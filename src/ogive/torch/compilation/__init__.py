"""Programs that are captured, traced, or made of operators of their own."""
