"""The compiler, in the order in which it runs.

capture, general, shards, graph, versions, fuse, regions, loops, place, lower; `pipeline` runs them.
"""
