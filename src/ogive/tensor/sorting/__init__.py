"""Orders of elements, and searches in what is ordered."""
