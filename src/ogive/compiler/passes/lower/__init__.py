"""Placed loops become ordered instructions: the strides of lanes, the contents of each loop."""
