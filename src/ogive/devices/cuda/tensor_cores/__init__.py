"""What kernels for tensor cores are made of: text, tiles, fragments, instructions, epilogues."""
