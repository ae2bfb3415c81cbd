"""The compiled graph: its steps, which of them run side by side, in which order, by how many."""
