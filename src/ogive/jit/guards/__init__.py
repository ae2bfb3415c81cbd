"""Guards: all that a captured function read, and whether it is as it was."""
