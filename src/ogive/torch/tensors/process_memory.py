"""Memory that processes share: `share_memory_()`, for processes that train one model.

The memory is one that `multiprocessing` makes: processes that are forked have it, and those that
are spawned get it with the tensors among their arguments.
"""

from __future__ import annotations

import ctypes
from multiprocessing import context, sharedctypes
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy

from ogive.eager.tensors import PLAIN_CLASS
from ogive.errors import StateError
from ogive.nn.parameter import Parameter
from ogive.tensor.tensor import Tensor
from ogive.torch.tensors.numpy_arrays import from_numpy, to_shared_numpy


def share_memory_(self: Tensor) -> Tensor:
    """Move the tensor to memory that the processes started from now on share. Returns the tensor.

    What one process writes to it in place, such as a step of an optimizer, the others read. Raises
    `StateError` for a tensor whose memory an array or a view shows already.

    >>> x = ogive.torch.ones(2).share_memory_()
    >>> x.is_shared(), x.add_(1).is_shared()
    (True, True)
    """
    if self.numel() and not is_shared(self):
        values = self.detach().clone().numpy()
        self.data = from_numpy(_array_on(_memory_for(values), values.dtype, values.shape, values))
        if not is_shared(self):
            raise StateError(
                f"this tensor of shape {tuple(self.shape)} cannot move to shared memory, since an "
                "array or another tensor shows the memory that it has; call share_memory_() first"
            )
    return self


def is_shared(self: Tensor) -> bool:
    """Whether processes that are started from now on share the memory."""
    return _shared_memory(self) is not None


def reduce(self: Tensor) -> Any:
    """The form of a tensor for another process: its shared memory, if the process is being spawned
    and the tensor has such memory; else its values."""
    memory = None if context.get_spawning_popen() is None else _shared_memory(self)
    if memory is None:
        return self.__reduce__()
    array = to_shared_numpy(self.detach())
    start = array.__array_interface__["data"][0] - ctypes.addressof(memory)
    facts = (array.dtype, array.shape, array.strides, start)
    return _restored, (memory, facts, isinstance(self, Parameter), self.requires_grad)


for _kind in {*PLAIN_CLASS, *PLAIN_CLASS.values()}:
    ForkingPickler.register(_kind, reduce)


def _restored(memory: Any, facts: Any, is_parameter: bool, requires_grad: bool) -> Tensor:
    dtype, shape, strides, start = facts
    tensor = from_numpy(numpy.ndarray(shape, dtype, memory, start, strides))
    if is_parameter:
        return Parameter(tensor, requires_grad)
    return tensor.requires_grad_() if requires_grad else tensor


def _memory_for(values: Any) -> Any:
    return sharedctypes.RawArray(ctypes.c_byte, values.nbytes)


def _array_on(memory: Any, dtype: Any, shape: Any, values: Any) -> Any:
    array = numpy.ndarray(shape, dtype, memory)
    array[...] = values
    return array


def _shared_memory(tensor: Tensor) -> Any:
    """The shared memory that a tensor lies in, or None."""
    base: Any = tensor.value if tensor.is_eager else to_shared_numpy(tensor.detach())
    while isinstance(base, numpy.ndarray | memoryview):
        base = base.base if isinstance(base, numpy.ndarray) else base.obj
    return base if isinstance(base, ctypes.Array) else None
