"""Graph search: finds other ways to compute a graph, and takes the fastest by the cost model."""
