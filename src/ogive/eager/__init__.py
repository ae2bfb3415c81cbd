"""Compute with small tensors at once, by NumPy, under `ogive.torch`.

`make` makes an eager tensor of an array (`tensors.py`).
"""

from __future__ import annotations

from typing import Any

from ogive.eager.namespaces import may_be_eager, turn_off, turn_on
from ogive.eager.table import fill_table
from ogive.eager.tensors import DTYPES, give
from ogive.tensor.eager_sizes import allowance
from ogive.tensor.tensor import Tensor

fill_table()

__all__ = ["make", "may_be_eager", "turn_off", "turn_on"]


def make(array: Any) -> Tensor | None:
    """An eager tensor that holds `array`, which must have no other owner.

    None if new tensors must not be eager, or not with this array.
    """
    if array.dtype not in DTYPES or not may_be_eager() or not allowance.may_hold(array.size):
        return None
    return give(array)
