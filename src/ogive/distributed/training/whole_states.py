"""Whole state dictionaries of models that `fully_shard` has divided.

A state that some ranks save can be loaded by another number of ranks, or by one process.

    0.parametrizations.weight.original    (6,) on each of 4 ranks    ↔    0.weight    (8, 3)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ogive.autograd.mode import no_grad
from ogive.distributed.training.fully_sharded import Gathered
from ogive.errors import StateError
from ogive.named import NamedTuple
from ogive.nn.module import AnyModule
from ogive.nn.utils.parametrize import ParametrizationList
from ogive.optim.optimizer import Optimizer
from ogive.tensor.core import to_tensor
from ogive.tensor.tensor import Tensor


class _Divided(NamedTuple):
    """A sharded parameter: its keys in the states of the sharded and the whole model, its part, and
    its parametrization."""

    key: str
    whole_key: str
    part: Tensor
    gathered: Gathered


def whole_state(model: AnyModule, optimizer: Optimizer | None = None) -> dict[str, Any]:
    """Return the state dictionary of a sharded model, or of its `optimizer`, as if it were whole.

    All ranks call it, and one of them may save it.

    >>> model = ogive.distributed.fully_shard(nn.Linear(3, 2))
    >>> {name: t.shape for name, t in ogive.distributed.whole_state(model).items()}
    {'weight': (2, 3), 'bias': (2,)}

    Raises `DistributedError` as `all_gather` does.
    """
    divided = _divided(model)
    if optimizer is not None:
        return _whole_optimizer(optimizer, divided)
    state = dict(model.state_dict())
    whole: dict[str, Any] = {}
    with no_grad():
        for key, value in state.items():
            own = divided.get(key)
            whole[own.whole_key if own else key] = _join(own, value) if own else value
    return whole


def load_whole_state(
    model: AnyModule, state: Mapping[str, Any], optimizer: Optimizer | None = None
) -> None:
    """Load a whole state dictionary into a sharded model, or into its `optimizer`.

    The state comes from `whole_state`, or from a model that was never sharded. Each rank keeps its
    parts.

    >>> model = ogive.distributed.fully_shard(nn.Linear(3, 2))
    >>> ogive.distributed.load_whole_state(model, nn.Linear(3, 2).state_dict())

    Raises `StateError` if keys or shapes differ.
    """
    divided = _divided(model)
    if optimizer is not None:
        _load_optimizer(optimizer, state, divided)
        return
    renamed = {own.whole_key: own for own in divided.values()}
    parts: dict[str, Any] = {}
    for key, value in state.items():
        own = renamed.get(key)
        parts[own.key if own else key] = _cut(own, value, key) if own else value
    model.load_state_dict(parts)


def _divided(model: AnyModule) -> dict[str, _Divided]:
    """Return the sharded parameters of a model, by their keys in its state."""
    divided: dict[str, _Divided] = {}
    for path, module in model.named_modules(remove_duplicate=False):
        first = module.functions()[0] if isinstance(module, ParametrizationList) else None
        if isinstance(module, ParametrizationList) and isinstance(first, Gathered):
            before, _, name = path.rpartition("parametrizations.")
            key = f"{path}.original"
            divided[key] = _Divided(key, before + name, module.original, first)
    return divided


def _join(own: _Divided, part: Tensor) -> Tensor:
    """Gather the whole of a parameter, or of optimizer state that is sharded like it."""
    (whole,) = own.gathered.group.join_parts([part], [own.gathered.shape])
    return whole.realize()


def _cut(own: _Divided, given: Any, key: str) -> Tensor:
    """Return this rank's part of a whole value. Raises `StateError` for another shape."""
    whole = given if isinstance(given, Tensor) else to_tensor(given)
    if tuple(whole.shape) != own.gathered.shape:
        raise StateError(
            f"{key} has the shape {tuple(whole.shape)} in the state, and {own.gathered.shape} in "
            "the model"
        )
    with no_grad():
        return own.gathered.right_inverse(whole.detach())


def _parameters(optimizer: Optimizer, divided: Mapping[str, _Divided]) -> list[_Divided | None]:
    """Return the sharded parameter, or None, for each parameter of an optimizer, in order."""
    known = {id(own.part): own for own in divided.values()}
    every = [p for group in optimizer.param_groups for p in group["params"]]
    return [known.get(id(parameter)) for parameter in every]


def _whole_optimizer(optimizer: Optimizer, divided: Mapping[str, _Divided]) -> dict[str, Any]:
    state = optimizer.state_dict()
    with no_grad():
        for number, own in enumerate(_parameters(optimizer, divided)):
            if own is not None and number in state["state"]:
                state["state"][number] = {
                    name: _join(own, value) if value.shape == own.part.shape else value
                    for name, value in state["state"][number].items()
                }
    return state


def _load_optimizer(
    optimizer: Optimizer, given: Mapping[str, Any], divided: Mapping[str, _Divided]
) -> None:
    state = {**given, "state": dict(given["state"])}
    for number, own in enumerate(_parameters(optimizer, divided)):
        entry = state["state"].get(number)
        if own is not None and entry is not None:
            state["state"][number] = {
                name: _cut(own, value, f"{name} of {own.whole_key}") if _is_whole(own, value)
                else value
                for name, value in entry.items()
            }  # fmt: skip
    optimizer.load_state_dict(state)


def _is_whole(own: _Divided, value: Any) -> bool:
    return tuple(getattr(value, "shape", ())) == own.gathered.shape
