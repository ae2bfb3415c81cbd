"""The tree of a module: the modules below it, parameters and buffers, and their paths.

Nothing needs to be registered. The tree consists of the attributes, alone or in lists, tuples and
dictionaries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ogive.errors import ArgumentTypeError
from ogive.nn.module_parts.module_protocol import ModuleProtocol
from ogive.nn.module_parts.registration import check_name
from ogive.nn.parameter import Parameter
from ogive.tensor.tensor import Tensor

if TYPE_CHECKING:
    from ogive.nn.module import AnyModule

_CONTAINERS = (dict, list, tuple)


class ModuleTree(ModuleProtocol):
    """The base of `Module`, with the methods that walk its tree."""

    _sees_containers = False
    _buffer_names: Mapping[str, bool] = {}

    def _parts(self) -> list[tuple[str, Any, Any]]:
        """The places of possible parameters and modules: name, holder, and key in the holder."""
        own = vars(self)
        parts: list[tuple[str, Any, Any]] = []
        for name, value in own.items():
            kind = value.__class__
            if kind is int or kind is float or kind is bool or kind is str:
                continue  # most attributes are not parts of the module
            if not self._sees_containers or not isinstance(value, _CONTAINERS):
                parts.append((name, own, name))
            elif isinstance(value, dict):
                parts += [(f"{name}.{key}", value, key) for key in value]
            else:
                parts += [(f"{name}.{place}", value, place) for place in range(len(value))]
        return parts

    def named_children(self) -> Iterator[tuple[str, AnyModule]]:
        """The modules directly below, with their names."""
        for name, holder, key in self._parts():
            value = holder[key]
            if isinstance(value, ModuleTree):
                yield name, value._own()

    def children(self) -> Iterator[AnyModule]:
        """The modules directly below, each once."""
        yield from dict.fromkeys([child for _, child in self.named_children()])

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, AnyModule]]:
        """This module and all below, each once, with their paths; without those in `memo`.

        >>> [path for path, _ in nn.Sequential(nn.Linear(2, 3), nn.ReLU()).named_modules()]
        ['', '0', '1']
        """
        seen = set() if memo is None else memo
        for path, module in self._all_modules(prefix):
            if not remove_duplicate or module not in seen:
                seen.add(module)
                yield path, module

    def modules(self) -> Iterator[AnyModule]:
        """This module and all below, each once."""
        for _, module in self.named_modules():
            yield module

    def _all_modules(self, prefix: str) -> list[tuple[str, AnyModule]]:
        modules: list[tuple[str, AnyModule]] = [(prefix, self._own())]
        for name, child in self.named_children():
            modules += child._all_modules(f"{prefix}.{name}" if prefix else name)
        return modules

    def get_submodule(self, target: str) -> AnyModule:
        """The module at a path such as `"layers.3.attention"`. Raises `AttributeError`."""
        module = dict(self._all_modules("")).get(target)
        if module is None:
            raise AttributeError(f"{type(self).__name__} has no module at {target!r}")
        return module

    # Parameters and buffers

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters, each once, with their paths; without `recurse` those of this module.

        >>> [name for name, _ in nn.Linear(2, 3).named_parameters()]
        ['weight', 'bias']
        """
        seen: set[int] = set()
        for path, parameter in self._all_tensors(prefix, parameters_of, recurse):
            if id(parameter) not in seen or not remove_duplicate:
                seen.add(id(parameter))
                yield path, parameter

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, each once, as an optimizer takes them."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        """Make a parameter an attribute, by a name that was computed.

        Raises `RegistrationError` for a name that no attribute has, or that another one has.
        """
        if parameter is not None and not isinstance(parameter, Parameter):
            raise ArgumentTypeError(
                f"register_parameter takes an nn.Parameter or None, not {type(parameter).__name__}"
            )
        check_name(self._own(), name, Parameter)
        setattr(self, name, parameter)

    def get_parameter(self, path: str) -> Parameter:
        """The parameter at a path such as `"layers.3.weight"`. Raises `AttributeError`."""
        parameter: Parameter | None = dict(self._all_tensors("", parameters_of)).get(path)
        if parameter is None:
            raise AttributeError(f"{type(self).__name__} has no parameter at {path!r}")
        return parameter

    def get_buffer(self, path: str) -> Tensor:
        """The buffer at a path. Raises `AttributeError`."""
        buffer = dict(self.named_buffers(remove_duplicate=False)).get(path)
        if buffer is None:
            raise AttributeError(f"{type(self).__name__} has no buffer at {path!r}")
        return buffer

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Set a tensor as an attribute that is part of the state but is not trained.

        One that is not `persistent` moves with the module and is left out of `state_dict`. Raises
        `RegistrationError` for a name that no attribute has, or that another one has.
        """
        if tensor is not None and not isinstance(tensor, Tensor):
            raise ArgumentTypeError(
                f"register_buffer takes a tensor or None, not {type(tensor).__name__}"
            )
        if name not in self._buffer_names:
            check_name(self._own(), name, None)
        setattr(self, name, tensor)
        self._buffer_names = {**self._buffer_names, name: persistent}

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers with their paths, each once; without `recurse` those of this module."""
        seen: set[int] = set()
        for path, buffer in self._all_tensors(prefix, _buffers_of, recurse):
            if id(buffer) not in seen or not remove_duplicate:
                seen.add(id(buffer))
                yield path, buffer

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _all_tensors(
        self,
        prefix: str,
        own: Callable[[AnyModule], Iterator[tuple[str, Any]]],
        recurse: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        for path, module in self._all_modules(prefix) if recurse else [(prefix, self._own())]:
            for name, tensor in own(module):
                yield f"{path}.{name}" if path else name, tensor

    # State

    def _places(self) -> Iterator[tuple[str, tuple[Any, Any]]]:
        """For each tensor of the state: its path, its holder, and its key in the holder."""
        for path, module in self._all_modules(""):
            for name, holder, key in module._parts():
                if isinstance(holder[key], Parameter) or name in module._buffer_names:
                    yield f"{path}.{name}" if path else name, (holder, key)

    def _state(self) -> Iterator[tuple[str, Tensor]]:
        yield from self._all_tensors("", state_of)


def parameters_of(module: AnyModule) -> Iterator[tuple[str, Any]]:
    """The parameters of one module, with their names."""
    for name, holder, key in module._parts():
        value = holder[key]
        if isinstance(value, Parameter):
            yield name, value


def _buffers_of(module: AnyModule) -> Iterator[tuple[str, Any]]:
    for name in module._buffer_names:
        buffer = getattr(module, name, None)  # it may have been deleted
        if buffer is not None:
            yield name, buffer


def state_of(module: AnyModule) -> Iterator[tuple[str, Any]]:
    """The entries of one module in a state, with the names."""
    yield from parameters_of(module)
    for name, buffer in _buffers_of(module):
        if module._buffer_names[name]:
            yield name, buffer
