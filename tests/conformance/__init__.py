"""PyTorch's own samples of its operators, run through ours.

`python -m tests.conformance` runs all of them; with `--write` it writes `docs/conformance.md`. The
suite runs a few samples of each.
"""
