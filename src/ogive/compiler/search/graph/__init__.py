"""Graph search: finds the fastest of many ways to compute a graph."""
