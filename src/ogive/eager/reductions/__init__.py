"""Forms of reductions and scans over axes."""
