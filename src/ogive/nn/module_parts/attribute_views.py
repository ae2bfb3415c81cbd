"""A module's attributes of one kind as a dictionary, such as PyTorch's `_parameters`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ogive.nn.module import AnyModule

Found = Callable[["AnyModule"], Iterator[tuple[str, Any]]]


class AttributeView(MutableMapping[str, Any]):
    """The names and values of the attributes that `find` gives. Setting an item sets the attribute.

    >>> layer = nn.Linear(2, 3)
    >>> list(layer._parameters)
    ['weight', 'bias']
    """

    __slots__ = ("_find", "_module", "_put")

    def __init__(
        self, module: AnyModule, find: Found, put: Callable[[AnyModule, str, Any], None]
    ) -> None:
        self._module = module
        self._find = find
        self._put = put

    def __getitem__(self, name: str) -> Any:
        for key, value in self._find(self._module):
            if key == name:
                return value
        raise KeyError(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._put(self._module, name, value)

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        delattr(self._module, name)

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, _ in self._find(self._module)])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return repr(dict(self))

    def replace(self, given: Mapping[str, Any]) -> None:
        """Replace all attributes of this kind by those in `given`, in their order."""
        wanted = dict(given)
        for name in reversed(list(self)):  # from the end: deleting renumbers the later modules
            delattr(self._module, name)
        for name, value in wanted.items():
            self[name] = value

    def copy(self) -> dict[str, Any]:
        """The names and values in a new dictionary."""
        return dict(self)
