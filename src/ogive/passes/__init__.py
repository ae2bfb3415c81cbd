"""The compiler, in the order in which it runs: graph, fuse, regions, loops, place, lower."""
