"""Stages 2, 4 and 5: normalize the graph, turn movement into indices, cut it into steps."""
