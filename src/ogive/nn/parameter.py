"""`Parameter`: a tensor that a module owns and an optimizer changes."""

from __future__ import annotations

from typing import Any

from ogive.tensor.core import memory_device
from ogive.tensor.memory.data_attribute import replace_value, share_memory
from ogive.tensor.method_functions import eager_calls
from ogive.tensor.tensor import Tensor


class Parameter(Tensor):
    """A tensor that is a parameter of the module whose attribute it is.

    A parameter made from a tensor shares the tensor's memory, on its devices.

    >>> nn.Parameter([1.0, 2.0]).requires_grad
    True

    Raises `GradientError` for a dtype that has no gradient, unless `requires_grad` is False.
    """

    __slots__ = ()

    def __init__(self, data: Any, requires_grad: bool = True) -> None:
        is_eager = isinstance(data, Tensor) and data.is_eager and type(self) is Parameter
        if not (is_eager and eager_calls[Parameter](self, data, requires_grad)):
            device = memory_device(data) if isinstance(data, Tensor) else None
            super().__init__(data, device=device, requires_grad=requires_grad)
            if isinstance(data, Tensor):
                share_memory(self, data)

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    def __copy__(self) -> Parameter:
        """A parameter of the same memory; one that requires gradients has memory of its own."""
        if self.requires_grad:
            return self.__deepcopy__({})
        return type(self)(self.detach(), requires_grad=False)

    def __deepcopy__(self, memo: Any) -> Parameter:
        """A new parameter with the same values and no gradient, as in PyTorch."""
        return type(self)(self.detach().clone(), requires_grad=self.requires_grad)


class UninitializedParameter(Parameter):
    """A parameter of a lazy layer that has seen no input: it has a dtype, but no shape yet."""

    __slots__ = ()

    def __init__(self, dtype: Any = None) -> None:
        super().__init__(Tensor([], dtype=dtype))

    def materialize(self, values: Tensor) -> None:
        """Become a parameter with these values."""
        replace_value(self, values)
        self.__class__ = Parameter  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"UninitializedParameter(dtype={self.dtype.name})"
