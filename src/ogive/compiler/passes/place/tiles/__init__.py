"""Register tiles, by what a kernel does: which axes make one up, and how long it is along each."""
