"""Other values for a tensor, of another shape or dtype perhaps: `x.data = y`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ogive.live import history, registry
from ogive.live.registry import graph_lock
from ogive.tensor.core import to_tensor, wrap
from ogive.tensor.memory.views import shared_storage
from ogive.tensor.method_functions import eager_calls
from ogive.tensor.tensor import Tensor


def set_data(tensor: Tensor, value: Any) -> None:
    """`tensor.data = value`: in its own memory where shape and dtype stay.

    What showed the tensor before shows what it was. A value that shows the same memory in the same
    way changes nothing: `w.data -= x` has written to that already, and sets it then.
    """
    if isinstance(value, Tensor) and value.is_eager and eager_calls[set_data](tensor, value):
        return
    given = value if isinstance(value, Tensor) else to_tensor(numpy.asarray(value))
    with graph_lock:
        is_same = tensor.shared is not None and tensor.shared is given.shared
        if is_same and given.shows.movements == tensor.shows.movements:
            return
        tensor.shared = tensor.layout = None
    if given.shape == tensor.shape and given.dtype is tensor.dtype:
        _unseen(lambda: tensor.assign(given.detach()))
    else:
        replace_value(tensor, given)


def replace_value(tensor: Tensor, value: Tensor) -> None:
    """Let a tensor stand for other values, maybe of another dtype or device, in its own memory.

    What shows it shows them too where shape and dtype stay.
    """
    if value.is_eager and eager_calls[replace_value](tensor, value):
        return
    with graph_lock:
        made = wrap(value.detach().node, value.device).contiguous()
        fits = made.shape == tensor.shape and made.dtype is tensor.dtype
        if fits and shared_storage(tensor) is not None:
            _unseen(lambda: tensor.assign(made))
            return
        tensor.shared = tensor.layout = None
    made.realize()
    with graph_lock:
        tensor.device = made.device
        registry.move_tensor(tensor, made.node)


def _unseen(change: Callable[[], Any]) -> None:
    """Make a change that gradients take no notice of."""
    before = history.set_recording(False)
    try:
        change()
    finally:
        history.set_recording(before)
