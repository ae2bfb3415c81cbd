"""Modules made of modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

from ogive.errors import ArgumentError, ArgumentTypeError, IndexRangeError, nearest
from ogive.nn.module import AnyModule, Module

List = TypeVar("List", bound="OrderedModules")
Chain = TypeVar("Chain", bound="Sequential")


def _to_module(value: Any, name: str) -> Any:
    """Check that `value` is a module or None, and return it. Raises `ArgumentTypeError`."""
    if value is not None and not isinstance(value, AnyModule):
        raise ArgumentTypeError(f"{name} holds modules, but {value!r} is not a module")
    return value


class OrderedModules(Module):
    """The base of containers that keep modules in order and name them by their positions."""

    def __init__(self, modules: Iterable[AnyModule | None] | None = None) -> None:
        self._listed: list[Any] = []
        self.extend(modules or ())

    def named_children(self) -> Iterator[tuple[str, AnyModule]]:
        for position, module in enumerate(self._listed):
            if module is not None:
                yield str(position), module

    def _child_texts(self) -> Iterator[tuple[str, str]]:
        """A place that has no module is shown, too."""
        for name, module in zip(self._own_names(), self._listed, strict=True):
            yield name, repr(module)

    # A module's name leads to it as an attribute, which is how those who replace modules go.

    def __getattr__(self, name: str) -> Any:
        position = self._position(name)
        if position is None:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self._listed[position]

    def __setattr__(self, name: str, value: Any) -> None:
        position = self._position(name) if isinstance(value, AnyModule) else None
        if position is not None:
            self._listed[position] = value
        elif isinstance(value, AnyModule):
            self._add_named(name, value)
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        position = self._position(name)
        if position is None:
            super().__delattr__(name)
        else:
            del self[position]

    def _position(self, name: str) -> int | None:
        if "_listed" not in self.__dict__:
            return None
        names = self._own_names()
        return names.index(name) if name in names else None

    def _own_names(self) -> list[str]:
        return [str(position) for position in range(len(self._listed))]

    def _add_named(self, name: str, module: AnyModule) -> None:
        if name != str(len(self)):
            raise ArgumentError(
                f"a ModuleList names its modules by position, and {name!r} is not the next one; "
                "use append(), or a ModuleDict for names of your own"
            )
        self.append(module)

    def append(self: List, module: AnyModule | None) -> List:
        """Add a module at the end. Returns the list."""
        self._listed.append(_to_module(module, type(self).__name__))
        return self

    def extend(self: List, modules: Iterable[AnyModule | None]) -> List:
        """Add several modules at the end. Returns the list."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, position: int, module: AnyModule) -> None:
        """Add a module in front of the one at `position`."""
        self._listed.insert(position, _to_module(module, type(self).__name__))

    def pop(self, position: int) -> AnyModule:
        """Take a module out."""
        module: AnyModule = self[position]
        del self[position]
        return module

    def __iadd__(self: List, modules: Iterable[AnyModule]) -> List:
        return self.extend(modules)

    def __add__(self: List, modules: Iterable[AnyModule]) -> List:
        joined: List = self[:]
        return joined.extend(modules)

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            part = type(self).__new__(type(self))
            part._listed = self._listed[position]
            return part
        try:
            return self._listed[position]
        except IndexError:
            raise IndexRangeError(
                f"there is no module {position} among {len(self._listed)}"
            ) from None

    def __setitem__(self, position: int, module: AnyModule) -> None:
        self._listed[position] = _to_module(module, type(self).__name__)

    def __delitem__(self, position: int | slice) -> None:
        del self._listed[position]

    def __len__(self) -> int:
        return len(self._listed)

    def __iter__(self) -> Iterator[AnyModule]:
        return iter(self._listed)


class ModuleList(OrderedModules):
    """Modules in order, named by their positions.

    >>> layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
    >>> len(layers), [name for name, _ in layers.named_parameters()][:2]
    (3, ['0.weight', '0.bias'])
    >>> layers
    ModuleList(
      (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)
    )
    """

    def _child_texts(self) -> Iterator[tuple[str, str]]:
        """The texts of the modules. A run of equal texts becomes one, with its length in front."""
        for text, named in groupby(super()._child_texts(), key=itemgetter(1)):
            names = [name for name, _ in named]
            if len(names) == 1:
                yield names[0], text
            else:
                yield f"{names[0]}-{names[-1]}", f"{len(names)} x {text}"


class Sequential(OrderedModules):
    """Modules applied one after the other. A dictionary gives them names.

    >>> nn.Sequential(nn.Linear(4, 2), nn.ReLU())(ogive.ones(3, 4)).shape
    (3, 2)
    """

    def __init__(self, *modules: AnyModule | Mapping[str, AnyModule]) -> None:
        self._names: list[str] | None = None
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            self._names = list(modules[0])
            super().__init__(modules[0].values())
        else:
            super().__init__([_to_module(module, "Sequential") for module in modules])

    def named_children(self) -> Iterator[tuple[str, AnyModule]]:
        if self._names is None:
            return super().named_children()
        pairs = zip(self._names, self._listed, strict=True)
        return iter([(name, module) for name, module in pairs if module is not None])

    def _own_names(self) -> list[str]:
        return super()._own_names() if self._names is None else self._names

    def __getitem__(self, position: Any) -> Any:
        part = super().__getitem__(position)
        if isinstance(position, slice):
            names = self._own_names()[position]
            kept = names == [str(place) for place in range(len(names))]
            part._names = None if kept else names
        return part

    def __delitem__(self, position: int | slice) -> None:
        super().__delitem__(position)
        self._names = None  # as PyTorch counts them anew

    def _add_named(self, name: str, module: AnyModule) -> None:
        names = self._own_names()
        super().append(module)
        self._names = [*names, name]

    def append(self: Chain, module: AnyModule | None) -> Chain:
        if self._names is not None and len(self._listed) == len(self._names):
            self._names.append(str(len(self._names)))
        return super().append(module)

    def insert(self, position: int, module: AnyModule) -> None:
        super().insert(position, module)
        if self._names is not None:
            self._names.insert(position, f"inserted{len(self._names)}")

    def forward(self, x: Any) -> Any:
        for module in self._listed:
            x = module(x)
        return x


class ModuleDict(Module):
    """Modules by name, as items and as attributes.

    >>> heads = nn.ModuleDict({"first": nn.Linear(2, 1)})
    >>> heads["first"] is heads.first
    True
    """

    def __init__(
        self, modules: Mapping[str, AnyModule] | Iterable[tuple[str, AnyModule]] | None = None
    ) -> None:
        self._named: dict[str, AnyModule] = {}
        self.update(modules or {})

    def named_children(self) -> Iterator[tuple[str, AnyModule]]:
        yield from [(name, module) for name, module in self._named.items() if module is not None]

    def __getitem__(self, name: str) -> AnyModule:
        return self._named[name]

    def __getattr__(self, name: str) -> Any:
        modules = self.__dict__.get("_named", {})
        if name in modules:
            return modules[name]
        raise AttributeError(
            f"ModuleDict has no attribute or module {name!r}{nearest(name, modules)}"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, AnyModule):
            self[name] = value
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if name in self._named:
            del self[name]
        else:
            super().__delattr__(name)

    def __delitem__(self, name: str) -> None:
        del self._named[name]

    def update(self, modules: Mapping[str, AnyModule] | Iterable[tuple[str, AnyModule]]) -> None:
        """Add modules. A module replaces the one of the same name."""
        for name, module in dict(modules).items():
            self[name] = module

    def clear(self) -> None:
        """Take all modules out."""
        self._named.clear()

    def pop(self, name: str) -> AnyModule:
        """Take a module out."""
        return self._named.pop(name)

    def __setitem__(self, name: str, module: AnyModule) -> None:
        self._named[name] = _to_module(module, "ModuleDict")

    def __contains__(self, name: object) -> bool:
        return name in self._named

    def __len__(self) -> int:
        return len(self._named)

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._named.keys()

    def values(self) -> Iterable[AnyModule]:
        """The modules."""
        return self._named.values()

    def items(self) -> Iterable[tuple[str, AnyModule]]:
        """Names and modules."""
        return self._named.items()
