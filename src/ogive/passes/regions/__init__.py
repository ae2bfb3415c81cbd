"""The parametric graph is cut into regions, one for each kernel, and they are put in order."""
