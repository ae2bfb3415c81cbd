"""Movement, splitting and joining."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

import ogive
from tests.tensor.table.case import (
    ALL,
    NUMBERS,
    WIDE,
    Case,
    both,
)


def _pad(x: Any) -> Any:
    if isinstance(x, ogive.Tensor):
        return x.pad(((1, 2),) * x.ndim, value=3)
    return F.pad(x, (1, 2) * x.ndim, value=3)


def _cat(x: Any) -> Any:
    if isinstance(x, ogive.Tensor):
        return ogive.cat([x, x[:1], -x], -1 if x.ndim == 1 else 0)
    return torch.cat([x, x[:1], -x])


def _stack(x: Any) -> Any:
    library: Any = ogive if isinstance(x, ogive.Tensor) else torch
    return library.stack([x, x * 2, x], -1)


def _last(x: Any) -> Any:
    """Every second element from the back; torch has no negative steps."""
    return x[..., ::-2] if isinstance(x, ogive.Tensor) else x.flip(-1)[..., ::2]


CASES = [
    both("reshape", lambda x: x.reshape(-1), dtypes=ALL),
    Case("T", lambda x: x.T, lambda x: x.permute(*reversed(range(x.ndim))), dtypes=ALL),
    both("flip", lambda x: x.flip(0), dtypes=ALL),
    both("expand", lambda x: x.unsqueeze(0).expand(3, *x.shape), dtypes=ALL),
    Case("pad", _pad, _pad, dtypes=NUMBERS), Case("cat", _cat, _cat, dtypes=NUMBERS),
    Case("stack", _stack, _stack, dtypes=NUMBERS), Case("steps back", _last, _last, dtypes=ALL),
    both("slice", lambda x: x[1:, ...], dtypes=ALL),
    both("step", lambda x: x[..., 1::3], dtypes=ALL),
    both("new axes", lambda x: x[None, ..., None], dtypes=ALL),
    both("contiguous", lambda x: x.flip(0).contiguous(), dtypes=ALL),
    both("a diamond", lambda x: x.flip(0) + x * 2 - x.flip(0), dtypes=WIDE, absolute=True),
]  # fmt: skip
