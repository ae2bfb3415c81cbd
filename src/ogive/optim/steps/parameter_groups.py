"""Groups of parameters: their settings and state, and checks of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self, TypedDict

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ArgumentError, ArgumentTypeError
from ogive.nn.parameter import UninitializedParameter
from ogive.optim.steps.fixed import Fixed
from ogive.optim.steps.state_parts import StateParts
from ogive.tensor.creation.constructors import zeros
from ogive.tensor.tensor import Tensor

State = dict[str, Tensor]

_SIGNED = ("beta2_decay",)
"""Settings that may be negative."""


class Execution(TypedDict, total=False):
    """Options of how a step runs.

    `shard` divides the state (`state_parts.py`). The others are PyTorch's and have no effect,
    because a step is always compiled as a whole.
    """

    shard: StateParts | None
    foreach: bool | None
    fused: bool | None
    capturable: bool
    differentiable: bool


class Group(dict[str, Any]):
    """Parameters and their settings: `group["params"]`, `group["lr"]`, and so on.

    `rate` is the learning rate as a tensor, in float64. Captured functions watch all settings
    except those in `kept_as_data`.
    """

    kept_as_data = frozenset(["lr"])

    def __init__(self, settings: Mapping[str, Any]) -> None:
        parameters: list[Tensor] = settings["params"]
        if parameters and parameters[0].is_eager:
            self.rate = parameters[0].new_zeros((), dtype=dtypes.float64)
        else:
            self.rate = zeros(dtype=dtypes.float64).contiguous().realize()
        super().__init__()
        for name, value in settings.items():
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        if name == "lr":
            value = value if isinstance(value, int | float) else float(value)
            if self.rate.is_eager:
                self.rate.assign(float(value))
            else:
                # From memory: a number in the graph would be compiled into the code.
                self.rate.assign(Tensor.from_numpy(numpy.array([float(value)])).reshape(()))
                self.rate.realize()
        super().__setitem__(name, value)

    def __reduce__(self) -> Any:
        """In a file, a group is a dictionary like any other."""
        return dict, (dict(self),)

    def update(self, *settings: Any, **named: Any) -> None:
        """Change several settings, each through `__setitem__`, which `dict.update` would not call.
        """
        for name, value in dict(*settings, **named).items():
            self[name] = value

    def __ior__(self, settings: Any) -> Self:  # type: ignore[override,misc]
        self.update(settings)
        return self

    def setdefault(self, name: str, default: Any = None, /) -> Any:
        """The setting `name`. If there is none, it is set to `default` first."""
        if name not in self:
            self[name] = default
        return self[name]


class StateByParameter(Fixed[int, State]):
    """The state of each parameter, by its id; by the parameter itself with its number of steps."""

    def __init__(self, states: Mapping[int, State], step_of: Callable[[Tensor], Tensor]) -> None:
        super().__init__(states)
        self._step_of = step_of

    def __missing__(self, key: Any) -> State:
        if isinstance(key, Tensor) and id(key) in self:
            return Fixed({"step": self._step_of(key), **self[id(key)]})
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return super().__contains__(id(key) if isinstance(key, Tensor) else key)


def check_settings(name: str, settings: Mapping[str, Any]) -> None:
    """Raise `ArgumentError` or `ArgumentTypeError` for settings that no optimizer can use."""
    for key, value in settings.items():
        if key == "betas" and not (isinstance(value, tuple | list) and len(value) == 2):
            raise ArgumentTypeError(f"{name}: betas must be two numbers, got {value!r}")
        if key == "lr" and not hasattr(value, "__float__"):
            raise ArgumentTypeError(f"{name}: lr must be a number, got {value!r}")
        entries = value if key == "betas" else (value,)
        for entry in entries:
            if isinstance(entry, bool) or not isinstance(entry, int | float):
                continue
            if key in ("betas", "alpha", "rho") and not 0 <= entry < 1:
                raise ArgumentError(f"{name}: {key} must lie in [0, 1), got {value}")
            if entry < 0 and key not in _SIGNED:
                raise ArgumentError(f"{name}: {key} must not be negative, got {value}")


def check_parameter(tensor: Any) -> None:
    """Raise `ArgumentError` or `ArgumentTypeError` for a parameter that no optimizer can change."""
    if not isinstance(tensor, Tensor):
        raise ArgumentTypeError(f"an optimizer takes tensors, got {tensor!r}")
    if isinstance(tensor, UninitializedParameter):
        raise ArgumentError(
            "a parameter of a lazy layer has no shape yet; call the model once with an "
            "input before you give its parameters to an optimizer"
        )
    if not tensor.is_leaf:
        raise ArgumentError(
            f"an optimizer changes leaves, but {tensor!r} was computed from tensors that "
            "require gradients; give those instead"
        )
