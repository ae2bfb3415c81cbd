"""The parts that `UOp` is made of: its table, its accessors, what is worked out and kept."""
