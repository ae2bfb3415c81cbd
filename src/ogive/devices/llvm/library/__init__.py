"""LLVM as a library: found, locked, called."""
