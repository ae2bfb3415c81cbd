"""Where each axis of a kernel goes: loops, lanes, register tiles, threads."""
