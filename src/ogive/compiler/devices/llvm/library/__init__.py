"""LLVM as a library: finding it, locking it, calling it."""
