"""Modules made of modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from ogive.errors import ArgumentError, ArgumentTypeError, IndexRangeError, nearest
from ogive.nn.module import Module

List = TypeVar("List", bound="ModuleList")
Chain = TypeVar("Chain", bound="Sequential")


def _to_module(value: Any, name: str) -> Module:
    if not isinstance(value, Module):
        raise ArgumentTypeError(f"{name} holds modules, and {value!r} is none")
    return value


class ModuleList(Module):
    """Modules in order, named by their positions.

    >>> layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
    >>> len(layers), [name for name, _ in layers.named_parameters()][:2]
    (3, ['0.weight', '0.bias'])
    """

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        self._modules: list[Module] = []
        self.extend(modules)

    def named_children(self) -> Iterator[tuple[str, Module]]:
        for position, module in enumerate(self._modules):
            yield str(position), module

    # A module's name leads to it as an attribute, which is how those who replace modules go.

    def __getattr__(self, name: str) -> Any:
        position = self._position(name)
        if position is None:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self._modules[position]

    def __setattr__(self, name: str, value: Any) -> None:
        position = self._position(name) if isinstance(value, Module) else None
        if position is not None:
            self._modules[position] = value
        elif isinstance(value, Module):
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
        if "_modules" not in self.__dict__:
            return None
        names = [own for own, _ in self.named_children()]
        return names.index(name) if name in names else None

    def _add_named(self, name: str, module: Module) -> None:
        if name != str(len(self)):
            raise ArgumentError(
                f"a ModuleList names its modules by position, and {name!r} is not the next; "
                "append() adds one, and a ModuleDict has names"
            )
        self.append(module)

    def append(self: List, module: Module) -> List:
        """Add a module at the end. Returns the list."""
        self._modules.append(_to_module(module, type(self).__name__))
        return self

    def extend(self: List, modules: Iterable[Module]) -> List:
        """Add several modules at the end. Returns the list."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, position: int, module: Module) -> None:
        """Add a module in front of the one at `position`."""
        self._modules.insert(position, _to_module(module, type(self).__name__))

    def pop(self, position: int) -> Module:
        """Take a module out."""
        found: Module = self[position]
        del self[position]
        return found

    def __iadd__(self: List, modules: Iterable[Module]) -> List:
        return self.extend(modules)

    def __add__(self: List, modules: Iterable[Module]) -> List:
        made: List = self[:]
        return made.extend(modules)

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            made = type(self).__new__(type(self))
            made._modules = self._modules[position]
            return made
        try:
            return self._modules[position]
        except IndexError:
            raise IndexRangeError(
                f"there is no module {position} among {len(self._modules)}"
            ) from None

    def __setitem__(self, position: int, module: Module) -> None:
        self._modules[position] = _to_module(module, type(self).__name__)

    def __delitem__(self, position: int | slice) -> None:
        del self._modules[position]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules)


class Sequential(ModuleList):
    """Modules applied one after the other. A dictionary gives them names.

    >>> nn.Sequential(nn.Linear(4, 2), nn.ReLU())(ogive.ones(3, 4)).shape
    (3, 2)
    """

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        self._names: list[str] | None = None
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            self._names = list(modules[0])
            super().__init__(modules[0].values())
        else:
            super().__init__([_to_module(module, "Sequential") for module in modules])

    def named_children(self) -> Iterator[tuple[str, Module]]:
        if self._names is None:
            return super().named_children()
        return zip(self._names, self._modules, strict=True)

    def __getitem__(self, position: Any) -> Any:
        made = super().__getitem__(position)
        if isinstance(position, slice):
            made._names = None if self._names is None else self._names[position]
        return made

    def __delitem__(self, position: int | slice) -> None:
        super().__delitem__(position)
        if self._names is not None:
            del self._names[position]

    def _add_named(self, name: str, module: Module) -> None:
        names = [own for own, _ in self.named_children()]
        super().append(module)
        self._names = [*names, name]

    def append(self: Chain, module: Module) -> Chain:
        if self._names is not None and len(self._modules) == len(self._names):
            self._names.append(str(len(self._names)))
        return super().append(module)

    def insert(self, position: int, module: Module) -> None:
        super().insert(position, module)
        if self._names is not None:
            self._names.insert(position, f"inserted{len(self._names)}")

    def forward(self, x: Any) -> Any:
        for module in self._modules:
            x = module(x)
        return x


class ModuleDict(Module):
    """Modules by name, as items and as attributes.

    >>> heads = nn.ModuleDict({"first": nn.Linear(2, 1)})
    >>> heads["first"] is heads.first
    True
    """

    def __init__(
        self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None
    ) -> None:
        self._modules: dict[str, Module] = {}
        self.update(modules or {})

    def named_children(self) -> Iterator[tuple[str, Module]]:
        yield from self._modules.items()

    def __getitem__(self, name: str) -> Module:
        return self._modules[name]

    def __getattr__(self, name: str) -> Any:
        modules = self.__dict__.get("_modules", {})
        if name in modules:
            return modules[name]
        raise AttributeError(
            f"ModuleDict has no attribute or module {name!r}{nearest(name, modules)}"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Module):
            self[name] = value
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if name in self._modules:
            del self[name]
        else:
            super().__delattr__(name)

    def __delitem__(self, name: str) -> None:
        del self._modules[name]

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add modules, or put them in the place of those of the same names."""
        for name, module in dict(modules).items():
            self[name] = module

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()

    def pop(self, name: str) -> Module:
        """Take a module out."""
        return self._modules.pop(name)

    def __setitem__(self, name: str, module: Module) -> None:
        self._modules[name] = _to_module(module, "ModuleDict")

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def values(self) -> Iterable[Module]:
        """The modules."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Module]]:
        """Names and modules."""
        return self._modules.items()
