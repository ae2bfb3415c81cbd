"""Lists and dictionaries of parameters, which are modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSequence
from typing import Any

from ogive.errors import ArgumentTypeError, IndexRangeError
from ogive.nn.module import Module
from ogive.nn.parameter import Parameter
from ogive.tensor.tensor import Tensor


def _to_parameter(value: Any) -> Any:
    is_plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    return Parameter(value) if is_plain else value


def _describe(name: object, value: Any, kind: object) -> str:
    """The line for an entry of a container: a tensor's `kind` and size, or the value's type."""
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    size = "x".join(map(str, value.shape))
    holder = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({name}): {holder} containing: [{kind} of size {size}]"


class ParameterList(Module, MutableSequence[Any]):
    """A list whose tensors are parameters, named by their positions. It may also hold modules, such
    as further lists, and any other objects.

    >>> [p.requires_grad for p in nn.ParameterList([ogive.ones(2), ogive.zeros(3)])]
    [True, True]
    >>> nested = nn.ParameterList([nn.ParameterList([ogive.ones(2)])])
    >>> [name for name, _ in nested.named_parameters()]
    ['0.0']
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        self._values = [_to_parameter(value) for value in values or ()]

    def _parts(self) -> list[tuple[str, Any, Any]]:
        return [(str(place), self._values, place) for place in range(len(self._values))]

    def __getattr__(self, name: str) -> Any:
        if name.isdecimal() and int(name) < len(self):
            return self._values[int(name)]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            return type(self)(self._values[position])
        try:
            return self._values[position]
        except IndexError:
            raise IndexRangeError(
                f"there is no parameter {position} among {len(self._values)}"
            ) from None

    def __setitem__(self, position: Any, value: Any) -> None:
        if isinstance(position, slice):
            self._values[position] = [_to_parameter(entry) for entry in value]
        else:
            self._values[position] = _to_parameter(value)

    def __delitem__(self, position: Any) -> None:
        del self._values[position]

    def __len__(self) -> int:
        return len(self._values)

    def extra_repr(self) -> str:
        lines = [
            _describe(place, value, getattr(value, "dtype", None))
            for place, value in enumerate(self._values)
        ]
        return "\n".join(lines)

    def __contains__(self, value: object) -> bool:
        return any(entry is value for entry in self._values)

    def insert(self, index: int, value: Any) -> None:
        """Add a parameter in front of the one at `index`."""
        self._values.insert(index, _to_parameter(value))

    def append(self, value: Any) -> ParameterList:  # type: ignore[override]  # as PyTorch's
        """Add a parameter at the end. Returns the list."""
        self.insert(len(self), value)
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:  # type: ignore[override]
        """Add several parameters at the end. Returns the list."""
        for value in list(values):
            self.append(value)
        return self


class ParameterDict(Module, MutableMapping[str, Any]):
    """A dictionary whose tensors are parameters, as items and as attributes. It may also hold any
    other objects.

    >>> [name for name, _ in nn.ParameterDict({"scale": ogive.ones(2)}).named_parameters()]
    ['scale']
    """

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self, values: Mapping[str, Any] | Iterable[Any] | None = None) -> None:
        self._values: dict[str, Any] = {}
        self.update(values or {})

    def _parts(self) -> list[tuple[str, Any, Any]]:
        return [(name, self._values, name) for name in self._values]

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        raise AttributeError(f"{type(self).__name__} has no attribute or parameter {name!r}")

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"the keys of a ParameterDict must be names, not {name!r}")
        self._values[name] = _to_parameter(value)

    def __delitem__(self, name: str) -> None:
        del self._values[name]

    def __len__(self) -> int:
        return len(self._values)

    def extra_repr(self) -> str:
        lines = [
            _describe(name, value, value.type() if isinstance(value, Tensor) else None)
            for name, value in self._values.items()
        ]
        return "\n".join(lines)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)
