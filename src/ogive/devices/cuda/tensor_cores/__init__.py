"""The parts of kernels for tensor cores: text, tiles, fragments, instructions, epilogues."""
