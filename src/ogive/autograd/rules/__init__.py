"""The gradient rules: how each op propagates a gradient to its sources, as nodes."""
