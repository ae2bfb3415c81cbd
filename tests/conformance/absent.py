"""Groups of what we do not have, for the reader of the list."""

from __future__ import annotations

import re

GROUPS: tuple[tuple[str, str], ...] = (
    (
        "PyTorch's internals: kernels, their backward passes, CUDA code",
        r"_.*|torch\.|jiterator|native_|.*_backward$|hash_tensor|max_pool2d_with",
    ),
    (
        "Strides and uninitialized memory, which our tensors do not show",
        r"as_strided|.*_strided|.*_copy$|empty_permuted|resize_|unsafe_|alias|slice$",
    ),
    ("Sparse tensors", r"sparse|to_sparse"),
    ("Linear algebra", r"linalg\.|cholesky|lu|geqrf|ormqr|.*_lowrank|qr$|svd$|triangular_solve"),
    ("Fourier transforms and windows", r"fft\.|signal\.|stft|istft"),
    ("Special functions", r"special\.|igamma"),
    ("Layers and losses", r"nn\.|grid_sampler"),
)
"""Titles, and the names of operators under them (from their beginning); the first that fits."""

OTHERS = "Others"


def group_of(label: str) -> str:
    """The title that an operator goes under."""
    for title, pattern in GROUPS:
        if re.match(pattern, label):
            return title
    return OTHERS
