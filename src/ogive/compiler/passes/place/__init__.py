"""The placement of each axis of a kernel: loops, lanes, register tiles, threads."""
