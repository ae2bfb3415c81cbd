"""What a process keeps in memory: compiled graphs, kernels, placements that were found, panels."""
