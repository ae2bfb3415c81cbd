"""Long sums: cut into blocks, or added up along rows of memory."""
