"""Parametrize parameters: compute them from others each time they are read.

    layer.weight    a parameter    →    f(layer.parametrizations.weight.original)

The original is trained, saved and loaded. The names in a state dictionary are PyTorch's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ogive.errors import ArgumentError, ShapeError
from ogive.nn.containers import ModuleDict
from ogive.nn.module import AnyModule, Given, Module
from ogive.nn.parameter import Parameter
from ogive.tensor.build import show
from ogive.tensor.memory.data_attribute import replace_value
from ogive.tensor.tensor import Tensor


class ParametrizationList(Module):
    """The functions that compute one parameter, applied in order, and its original tensors.

    The original tensor is `original`. If the first function has several arguments, they are
    `original0`, `original1` and so on.
    """

    original: Tensor

    def __init__(self, first: AnyModule, value: Tensor) -> None:
        self.count = 0
        begin = _inverse(first, value)
        self.several = isinstance(begin, tuple)
        if isinstance(begin, tuple):
            for number, part in enumerate(begin):
                setattr(self, f"original{number}", _like(part, value))
        else:
            self._keep("original", value, begin)
        self.append(first)

    def _keep(self, name: str, value: Tensor, begin: Tensor) -> None:
        """Use the tensor `begin` as the original, with this value: an optimizer may hold it."""
        if begin is not value:
            replace_value(value, begin)
        if isinstance(value, Parameter):
            setattr(self, name, value)
        else:
            self.register_buffer(name, value)

    def originals(self) -> list[Tensor]:
        """The original tensors: the arguments of the first function."""
        if not self.several:
            return [self.original]
        originals: list[Tensor] = []
        while hasattr(self, f"original{len(originals)}"):
            originals.append(getattr(self, f"original{len(originals)}"))
        return originals

    def append(self, function: AnyModule) -> None:
        """Add a function after the others."""
        self.add_module(str(self.count), function)
        self.count += 1

    def functions(self) -> list[AnyModule]:
        """The functions in order."""
        return [getattr(self, str(number)) for number in range(self.count)]

    def forward(self) -> Tensor:
        """The value of the parameter."""
        first, *others = self.functions()
        value: Tensor = first(*self.originals())
        for function in others:
            value = function(value)
        return value

    def set_value(self, value: Tensor) -> None:
        """Change the originals so that the parameter has this value."""
        given: Any = value
        for function in reversed(self.functions()):
            given = _inverse(function, given)
        parts = given if isinstance(given, tuple) else (given,)
        for original, part in zip(self.originals(), parts, strict=True):
            original.data = part


def _inverse(function: AnyModule, value: Tensor) -> Any:
    inverse = getattr(function, "right_inverse", None)
    return value if inverse is None else inverse(value.detach())


def _like(part: Tensor, value: Tensor) -> Tensor:
    return Parameter(part, value.requires_grad)


def register_parametrization(module: Given, tensor_name: str, parametrization: AnyModule) -> Given:
    """Compute a parameter as `parametrization` of its original. Returns the module.

    `parametrization` is a module that gives the value from the original. If it has a method
    `right_inverse`, that gives the original for the present value (a tuple for several arguments);
    otherwise the present value is the original. Several are applied in the order of registration.

    >>> class Symmetric(nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).mT
    >>> layer = nn.Linear(3, 3)
    >>> _ = nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.mT).all())
    True
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'parametrizations.weight.original']

    Raises `ArgumentError` if the module has no tensor of this name, and `ShapeError` if the result
    does not have the parameter's shape.
    """
    if is_parametrized(module, tensor_name):
        chain = _chain(module, tensor_name)
        before = chain()
        _check(before, parametrization(before), tensor_name)
        if hasattr(parametrization, "right_inverse"):
            chain.set_value(parametrization.right_inverse(before.detach()))
        chain.append(parametrization)
        return module
    value = vars(module).get(tensor_name)
    if not isinstance(value, Tensor):
        names = [name for name, entry in vars(module).items() if isinstance(entry, Tensor)]
        raise ArgumentError(
            f"{type(module).__name__} has no parameter {tensor_name!r} of its own; it has "
            f"{', '.join(names) or 'none'}"
        )
    shape = value.shape
    chain = ParametrizationList(parametrization, value)
    if chain().shape != shape:
        raise ShapeError(
            f"the parametrization gives the shape {show(chain().shape)}, and {tensor_name} has "
            f"{show(shape)}"
        )
    install_chain(module, tensor_name, chain)
    return module


def _check(before: Tensor, after: Tensor, name: str) -> None:
    if after.shape != before.shape:
        raise ShapeError(
            f"the parametrization gives the shape {show(after.shape)}, and {name} has "
            f"{show(before.shape)}"
        )


def install_chain(module: AnyModule, name: str, chain: ParametrizationList) -> None:
    """Replace a tensor by a property that computes it, in a class that only this module has."""
    del vars(module)[name]
    module._buffer_names = {
        known: kept for known, kept in module._buffer_names.items() if known != name
    }
    if not is_parametrized(module):
        own = type(module)
        module.__class__ = type(f"Parametrized{own.__name__}", (own,), {})
        module.add_module("parametrizations", ModuleDict())
    vars(module)["parametrizations"][name] = chain

    def read(self: AnyModule) -> Any:
        if not _known:
            return _chain(self, name)()
        key, known = (id(self), name), _known[-1]
        if key not in known:
            known[key] = _chain(self, name)()
        return known[key]

    def write(self: AnyModule, value: Tensor) -> None:
        _chain(self, name).set_value(value)

    setattr(type(module), name, property(read, write))


_known: list[dict[tuple[int, str], Tensor]] = []
"""For each `cached()` that is entered, what was computed in it, by module and name."""


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized parameter once, and keep its value, as long as this is entered.

    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 3))
    >>> with nn.utils.parametrize.cached():
    ...     layer.weight is layer.weight
    True
    """
    _known.append(_known[-1] if _known else {})
    try:
        yield
    finally:
        _known.pop()


def type_before_parametrizations(module: AnyModule) -> type[AnyModule]:
    """The class that a module had before parameters of it were parametrized."""
    own = type(module)
    return own.__bases__[0] if is_parametrized(module) else own


def _chain(module: AnyModule, name: str) -> ParametrizationList:
    chain: ParametrizationList = vars(module)["parametrizations"][name]
    return chain


def is_parametrized(module: AnyModule, tensor_name: str | None = None) -> bool:
    """Whether a parameter of a module is parametrized: this one, or without a name any.

    >>> nn.utils.parametrize.is_parametrized(nn.Linear(2, 2))
    False
    """
    chains = vars(module).get("parametrizations")
    if not isinstance(chains, ModuleDict):
        return False
    return tensor_name is None or tensor_name in chains


def remove_parametrizations(
    module: Given, tensor_name: str, leave_parametrized: bool = True
) -> Given:
    """Make a parameter a plain one again, with its present value. Returns the module.

    With `leave_parametrized=False`, it gets the original back, if there is only one.

    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 3))
    >>> sorted(nn.utils.parametrize.remove_parametrizations(layer, "weight").state_dict())
    ['bias', 'weight']

    Raises `ArgumentError` for a name that is not parametrized, or that has several originals.
    """
    if not is_parametrized(module, tensor_name):
        raise ArgumentError(f"{type(module).__name__} has no parametrization of {tensor_name!r}")
    chain = _chain(module, tensor_name)
    originals = chain.originals()
    if not leave_parametrized and len(originals) > 1:
        raise ArgumentError(
            f"{tensor_name!r} has {len(originals)} originals, so none can take its place; use "
            "leave_parametrized=True"
        )
    if len(originals) == 1:
        kept = originals[0]
        if leave_parametrized:
            replace_value(kept, chain())
    else:
        kept = Parameter(chain().detach(), any(part.requires_grad for part in originals))
    delattr(type(module), tensor_name)
    chains = vars(module)["parametrizations"]
    del chains[tensor_name]
    if not len(chains):
        (module.__class__,) = type(module).__bases__
        del vars(module)["parametrizations"]
    if isinstance(kept, Parameter):
        setattr(module, tensor_name, kept)
    else:
        module.register_buffer(tensor_name, kept)
    return module
