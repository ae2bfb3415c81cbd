"""Long sums, cut into blocks or computed along rows of memory."""
