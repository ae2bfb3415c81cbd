"""Images in another resolution, by lines between neighbouring pixels: two products of matrices."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy

from ogive.eager.casts import check_size
from ogive.eager.forms import Refused
from ogive.eager.products.product_forms import check_work

_NAMES = {"linear": 1, "bilinear": 2}


def weights(x: Any, size: Any, scale_factor: Any, mode: str, align_corners: Any) -> list[Any]:
    """For each axis of space how much each pixel weighs in each new one. Raises `Refused`."""
    lengths = x.shape[2:]
    if _NAMES.get(mode) != len(lengths) or not x.size or (size is None) == (scale_factor is None):
        raise Refused
    given = scale_factor if size is None else size
    entries = tuple(given) if given.__class__ in (tuple, list) else (given,) * len(lengths)
    if len(entries) != len(lengths) or any(each.__class__ not in (int, float) for each in entries):
        raise Refused
    found = []
    for length, entry in zip(lengths, entries, strict=True):
        target = math.floor(length * entry) if size is None else entry
        ratio = 1 / entry if size is None else length / target
        if target.__class__ is not int or target < 1:
            raise Refused
        if target == length:
            ratio = 1.0  # as in PyTorch: an axis that keeps its length is copied
        found.append(_matrix(length, target, ratio, bool(align_corners), x.dtype))
    return found


@functools.lru_cache(256)
def _matrix(length: int, target: int, ratio: float, align_corners: bool, dtype: Any) -> Any:
    places = numpy.arange(target)
    if align_corners:
        at = places * ((length - 1) / (target - 1) if target > 1 else 0.0)
    else:
        at = numpy.maximum((places + 0.5) * ratio - 0.5, 0)
    below = numpy.minimum(at.astype(numpy.int64), length - 1)
    share = at - below
    made = numpy.zeros((target, length))
    made[places, below] = 1 - share
    numpy.add.at(made, (places, numpy.minimum(below + 1, length - 1)), share)
    made = made.astype(dtype)
    made.setflags(write=False)
    return made


def resize(x: Any, matrices: list[Any]) -> Any:
    """The image with each axis of space multiplied by its matrix."""
    lengths = [len(matrix) for matrix in matrices]
    check_size((*x.shape[:2], *lengths))
    check_work(x.size * max(lengths), 0)
    made = numpy.matmul(x, matrices[-1].T)
    return made if len(matrices) == 1 else numpy.matmul(matrices[0], made)
