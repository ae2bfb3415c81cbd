"""Stage 6: where each axis of a kernel goes: loops, lanes, register tiles, threads."""
