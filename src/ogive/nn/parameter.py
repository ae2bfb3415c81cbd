"""`Parameter`: a tensor that a module owns and an optimizer changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ogive.tensor.data import replace_value
from ogive.tensor.tensor import Tensor


class Parameter(Tensor):
    """A tensor that counts as a parameter of the module it is an attribute of.

    >>> nn.Parameter([1.0, 2.0]).requires_grad
    True

    Raises `GradientError` for a dtype that has no gradient, unless `requires_grad` is False.
    """

    __slots__ = ()

    def __init__(self, data: Any, requires_grad: bool = True) -> None:
        super().__init__(data, requires_grad=requires_grad)


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


class ParameterList(list[Any]):
    """A list whose tensors are parameters. A list of `Parameter`s does as well.

    >>> [p.requires_grad for p in nn.ParameterList([ogive.ones(2), ogive.zeros(3)])]
    [True, True]
    """

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__([_to_parameter(value) for value in values])

    def append(self, value: Any) -> None:
        super().append(_to_parameter(value))


class ParameterDict(dict[str, Any]):
    """A dictionary whose tensors are parameters. A dictionary of `Parameter`s does as well."""

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        for name, value in (values or {}).items():
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, _to_parameter(value))


def _to_parameter(value: Any) -> Any:
    is_plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    return Parameter(value) if is_plain else value
