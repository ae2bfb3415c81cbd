"""Building blocks of tensor core kernels: text, tiles, fragments, instructions, epilogues."""
