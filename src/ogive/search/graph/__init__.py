"""Graph search: other ways to compute a graph, and the one that takes the least time."""
