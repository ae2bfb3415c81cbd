"""The compiler: a folder for each stage.

They run in this order: capture, general, shards, graph, versions, fuse, regions, loops, place,
lower. `pipeline` runs them.
"""
