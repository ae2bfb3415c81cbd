"""`torch.optim.Optimizer`: the base class of optimizers that programs define."""

from __future__ import annotations

import copy
import functools
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from ogive.autograd import enable_grad, no_grad
from ogive.errors import ArgumentError, StateError
from ogive.nn.module_parts.state import clear_gradients
from ogive.optim import Optimizer as _Optimizer
from ogive.tensor.tensor import Tensor

__all__ = [
    "Optimizer", "ParamsT", "StateDict", "_default_to_fused_or_foreach",
    "_get_capturable_supported_devices", "_get_value",
    "_params_t",     "_use_grad_for_differentiable", "required",
]  # fmt: skip

ParamsT = _params_t = Iterable[Any]
StateDict = dict[str, Any]


class _CountsAll(type):
    """The metaclass of `Optimizer`: `isinstance` holds for all optimizers."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is Optimizer:
            return isinstance(instance, _Optimizer)
        return super().__instancecheck__(instance)


class Optimizer(_Optimizer, metaclass=_CountsAll):
    """Groups of parameters with a state for each parameter. Subclasses define `step`.

    Groups are dictionaries of any settings. `state[p]` is a dictionary that a step fills.

    >>> class Descent(ogive.torch.optim.Optimizer):
    ...     def __init__(self, params, lr):
    ...         super().__init__(params, {"lr": lr})
    ...     @ogive.torch.no_grad()
    ...     def step(self, closure=None):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 p.add_(p.grad, alpha=-group["lr"])
    >>> x = ogive.torch.ones(2, requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> Descent([x], 0.5).step()
    >>> x.tolist()
    [-0.5, -0.5]
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable")
        self.defaults = defaults
        self.state: Any = defaultdict(dict)
        self.param_groups: list[Any] = []
        given = list(params)
        if not given:
            raise ArgumentError("optimizer got an empty parameter list")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(dict(group))

    def add_param_group(self, group: Any) -> None:
        """Add a group of parameters with settings of its own."""
        tensors = group["params"]
        group["params"] = [tensors] if isinstance(tensors, Tensor) else list(tensors)
        if group["params"] and isinstance(group["params"][0], tuple):
            group["params"] = [tensor for _, tensor in group["params"]]
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ArgumentError(
                    "parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
            group.setdefault(name, default)
        known = {id(p) for each in self.param_groups for p in each["params"]}
        if any(id(p) in known for p in group["params"]):
            raise ArgumentError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def step(self, closure: Any = None) -> Any:
        """Change the parameters. Subclasses define it."""
        raise NotImplementedError

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop all gradients; or fill them with zeros, without `set_to_none`."""
        for group in self.param_groups:
            clear_gradients(group["params"], set_to_none)

    def state_dict(self) -> dict[str, Any]:
        """The settings and the state, with parameters numbered over all groups."""
        everyone = [p for group in self.param_groups for p in group["params"]]
        numbers = {id(p): number for number, p in enumerate(everyone)}
        groups = [
            {**group, "params": [numbers[id(p)] for p in group["params"]]}
            for group in self.param_groups
        ]
        state = {
            numbers[id(key)] if isinstance(key, Tensor) else key: value
            for key, value in self.state.items()
        }
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Any) -> None:
        """Continue from a state that `state_dict` gave.

        Raises `StateError` if it belongs to other parameters.
        """
        groups = state_dict["param_groups"]
        sizes = [len(group["params"]) for group in self.param_groups]
        if sizes != [len(group["params"]) for group in groups]:
            raise StateError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        numbers: dict[Any, Any] = {}
        for own, other in zip(self.param_groups, groups, strict=True):
            numbers |= zip(other["params"], own["params"], strict=True)
            own.update({name: value for name, value in other.items() if name != "params"})
        self.state = defaultdict(dict)
        for key, value in copy.deepcopy(state_dict["state"]).items():
            self.state[numbers.get(key, key)] = value

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])


class _RequiredParameter:
    """The default of a setting that must be given."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


def _use_grad_for_differentiable(step: Callable[..., Any]) -> Callable[..., Any]:
    """Let a step record gradients only if its optimizer is `differentiable`."""
    @functools.wraps(step)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        with enable_grad() if self.defaults.get("differentiable") else no_grad():
            return step(self, *args, **kwargs)

    return run


def _default_to_fused_or_foreach(
    params: Any, differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Return (False, False): steps are compiled as a whole in any case."""
    return False, False


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """The devices on which steps can be captured."""
    return ["cpu"]


def _get_value(x: Any) -> Any:
    """A number itself, or the number in a tensor."""
    return x.item() if hasattr(x, "item") else x
