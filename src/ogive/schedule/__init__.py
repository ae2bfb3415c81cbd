"""Stages 2, 4 and 5: normalize the graph, cut it into steps, turn movement into indices."""
