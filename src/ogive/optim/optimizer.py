"""`Optimizer`: groups of parameters, their settings and state, and the step.

The learning rate and the number of steps change while training. So they are data, in small tensors
that the kernels read: a schedule causes no compilation, and a jitted step sees the new values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ogive.autograd import enable_grad, no_grad
from ogive.compiler.ir.device_names import DEFAULT_DEVICE, is_group
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.live.readers import tensors_reading
from ogive.errors import ArgumentError, ArgumentTypeError, StateError, nearest
from ogive.jit.jitted_function import Jitted
from ogive.jit.tracing.watch import begin_state, is_tracing
from ogive.nn.module import AnyModule
from ogive.nn.module_parts.state import clear_gradients, load_tensors
from ogive.optim.steps.clocks import Clocks
from ogive.optim.steps.fixed import Fixed
from ogive.optim.steps.parameter_groups import (
    Group,
    State,
    StateByParameter,
    check_parameter,
    check_settings,
)
from ogive.optim.steps.repeated_steps import RepeatedSteps, is_plain
from ogive.optim.steps.state_parts import StateParts, parts_of_state
from ogive.optim.steps.step_hooks import HookedSteps
from ogive.tensor.core import to_tensor
from ogive.tensor.method_functions import eager_calls
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor


class Optimizer(HookedSteps):
    """The base of all optimizers: define `make_state` and `update`.

    `params` holds parameters, or dictionaries of `"params"` and settings for these. `shard` is an
    axis of a mesh (`mesh["data"]`) or a group of ranks: state is then divided along it. Each device
    or rank computes its part of a step, and all get the new parameters. PyTorch's `foreach`,
    `fused` and `capturable` are accepted and have no effect.
    """

    is_elementwise = False
    """Whether the update of an element depends on that element alone, so that ranks may divide a
    parameter among them."""

    execution: tuple[str, ...] = ()
    """Settings of PyTorch's that groups have, and that mean nothing here."""

    def __init__(
        self,
        params: Iterable[Any],
        defaults: Mapping[str, Any],
        *,
        foreach: bool | None = None,
        fused: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        shard: StateParts | None = None,
        **unknown: Any,
    ) -> None:
        for name in unknown:
            raise ArgumentTypeError(
                f"{type(self).__name__} has no setting {name!r}{nearest(name, defaults)}; "
                f"its settings are {', '.join(defaults)}"
            )
        if differentiable:
            raise ArgumentError(
                "gradients do not flow through step(); differentiate a function of the parameters "
                "with ogive.grad instead"
            )
        check_settings(type(self).__name__, defaults)
        given_execution = {
            "foreach": foreach, "capturable": capturable, "differentiable": False, "fused": fused
        }  # fmt: skip
        self.defaults = {**defaults, **{name: given_execution[name] for name in self.execution}}
        self.param_groups: list[Group] = []
        self.clocks = Clocks()
        self.state: dict[int, State] = StateByParameter({}, self.clocks.of)
        self._repeated = RepeatedSteps()
        self._parts = parts_of_state(shard, type(self).__name__, self.is_elementwise)
        if isinstance(params, Tensor | AnyModule) or not isinstance(params, Iterable):
            advice = "; give its parameters()" if isinstance(params, AnyModule) else ""
            raise ArgumentTypeError(
                "an optimizer takes an iterable of parameters, not "
                f"{type(params).__name__}{advice}"
            )
        given = list(params)
        if not given:
            raise ArgumentError("an optimizer needs at least one parameter")
        for entry in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(entry)

    def add_param_group(self, group: Mapping[str, Any]) -> None:
        """Add a group of parameters with settings of its own. The other groups keep their state."""
        if "params" not in group:
            near = next((nearest(name, ["params"]) for name in group), "")
            raise ArgumentError(
                'a group of parameters must be a dictionary with "params", '
                f"not {list(group)}{near}"
            )
        tensors = group["params"]
        tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
        if tensors and isinstance(tensors[0], tuple):  # named_parameters()
            tensors = [tensor for _, tensor in tensors]
        settings = {**self.defaults, **group, "params": tensors}
        check_settings(type(self).__name__, settings)
        state = dict(self.state)
        for tensor in tensors:
            check_parameter(tensor)
            if id(tensor) in state:
                raise ArgumentError("a parameter is in two groups, or twice in one")
            initial = self.make_state(self._parts.own(tensor), settings)
            state[id(tensor)] = Fixed(self._in_memory(initial, tensor))
        self.state = StateByParameter(state, self.clocks.of)
        self.clocks.add(tensors)
        self.param_groups.append(Group(settings))

    def _add_state(self, parameter: Tensor, grown: State) -> State:
        added = self._in_memory(grown, parameter)
        for tensor in added.values():
            begin_state(tensor)
        own: State = Fixed({**self.state[id(parameter)], **added})
        self.state = StateByParameter({**self.state, id(parameter): own}, self.clocks.of)
        return own

    def _in_memory(self, values: State, parameter: Tensor) -> State:
        """State in memory of its own. Tensors of the parameter's shape are placed as it is."""
        if parameter.is_eager and all(value.is_eager for value in values.values()):
            return {name: value.clone() for name, value in values.items()}
        placed = {
            name: self._parts.place(value, parameter) if value.shape == parameter.shape else value
            for name, value in values.items()
        }
        return {name: _in_own_memory(value) for name, value in placed.items()}

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        """The state of a parameter before its first step. Optimizers define this."""
        raise NotImplementedError

    def grow_state(
        self, parameter: Tensor, gradient: Tensor, state: State, group: Mapping[str, Any]
    ) -> State:
        """State that a change of settings makes necessary, in addition to `state`."""
        return {}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter. Optimizers define this, and assign to tensors of `state`.

        `state["step"]` is the number of this step, counted from 1.
        """
        raise NotImplementedError

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Change all parameters that have a gradient.

        If `closure` is given, it computes the loss and its gradients first. Returns its result.
        """
        self._call_hooks("before")
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        self.step_unless(None)
        self._call_hooks("after")
        return loss

    def step_unless(self, skipped: Tensor | None) -> None:
        """Change all parameters that have a gradient, unless the scalar `skipped` is true.

        With `skipped`, the kernels choose between old and new values of parameters, state and
        numbers of steps.
        """
        gradients = [p.grad for group in self.param_groups for p in group["params"]]
        at_once = eager_calls.get(Optimizer.step_unless)
        if at_once is not None:
            if at_once(self, skipped, gradients):
                return
            for tensor in self._operands():
                tensor.node  # noqa: B018  (settles eager tensors: the whole step is compiled)
        if is_tracing():
            self._assign(skipped, gradients)
        elif skipped is not None or self._parts.ranks or not self._follows_from_settings():
            readers = self._readers()
            Tensor.realize_batch([*self._assign(skipped, gradients), *readers])
        else:
            moving = [gradient for gradient in gradients if gradient is not None]
            Tensor.realize_batch([*moving, *self._readers()])
            if any(is_group(gradient.device) for gradient in moving):
                self._captured(gradients)
            else:
                resting = tuple([gradient is None for gradient in gradients])
                self._repeated.carry_out(
                    lambda: (resting, *self._settings()),
                    self._operands(),
                    lambda: self._assign(None, gradients),
                )

    @functools.cached_property
    def _captured(self) -> Jitted[[list[Tensor | None]], None]:
        """The step as a captured function of gradients: with several devices, building its graph
        takes most of its time."""

        def step(gradients: list[Tensor | None]) -> None:
            self._assign(None, gradients)

        return Jitted(step)

    def _readers(self) -> list[Tensor]:
        """The pending readers of the parameters' old values. They are computed before the step;
        otherwise it would copy the parameters for them."""
        nodes = [memory_leaf(p.node) for group in self.param_groups for p in group["params"]]
        return [tensor for tensor in tensors_reading(nodes) if tensor.dtype.is_float]

    def _settings(self) -> tuple[Any, ...]:
        """Everything besides tensors that a step depends on. Values that cannot be compared safely
        compare as different."""
        values = [
            (name, value if is_plain(value) else object())
            for group in self.param_groups
            for name, value in group.items()
            if name not in ("params", "lr")
        ]
        return tuple(values), self.clocks.splits, id(self.state)

    def _operands(self) -> list[Tensor]:
        """The tensors that a step reads or changes, each once."""
        operands: list[Tensor] = []
        for group in self.param_groups:
            operands.append(group.rate)
            for parameter in group["params"]:
                gradient = parameter.grad
                if gradient is not None:
                    own = self.state[id(parameter)].values()
                    operands += (self.clocks.of(parameter), parameter, gradient, *own)
        return list({id(tensor): tensor for tensor in operands}.values())

    def _follows_from_settings(self) -> bool:
        """Whether `update` and `grow_state` are our own, which read only settings and tensors."""
        kind = type(self)
        return all(
            function.__module__.startswith("ogive.optim.")
            for function in (kind.update, kind.grow_state)
        )

    def _assign(
        self, skipped: Tensor | None, gradients: Iterable[Tensor | None]
    ) -> list[Tensor]:
        """Assign new values to the parameters that have a gradient.

        `gradients` are in the order of the parameters; None for those without one. Returns all
        tensors that the step reads or changes.
        """
        given_to, parts = iter(gradients), self._parts
        changed: list[Tensor] = [] if skipped is None else [skipped]
        new: list[tuple[Tensor, Tensor]] = []
        with no_grad():
            for group in self.param_groups:
                pairs = [(parameter, next(given_to)) for parameter in group["params"]]
                moving = [(parameter, given) for parameter, given in pairs if given is not None]
                resting = [parameter for parameter, given in pairs if given is None]
                movers = [parameter for parameter, _ in moving]
                changed += self.clocks.advance(movers, resting, skipped)
                for parameter, given in moving:
                    gradient = parts.own(-given if group.get("maximize") else given)
                    before = parts.own(parameter)
                    own = self.state[id(parameter)]
                    grown = self.grow_state(before, gradient, own, group)
                    if grown:
                        own = self._add_state(parameter, grown)
                    # With a condition, updates assign to temporary values, not to the state.
                    state = own if skipped is None else {k: v * 1 for k, v in own.items()}
                    counted = {**state, "step": self.clocks.of(parameter)}
                    value = self.update(before, gradient, counted, group)
                    if skipped is not None:
                        value = where(skipped, before, value)
                        for name, tensor in own.items():
                            tensor.assign(where(skipped, tensor, state[name]))
                    if parts.ranks:
                        new.append((parameter, value))
                    else:
                        parameter.assign(parts.value_of(value, parameter))
                    del value, before  # as long as they live, the old parameter has to be copied
                    changed += [parameter, given, *own.values()]
            for parameter, whole in parts.join(new):
                parameter.assign(whole)
        return changed

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop all gradients; or fill them with zeros, without `set_to_none`."""
        for group in self.param_groups:
            clear_gradients(group["params"], set_to_none)

    # State

    def state_dict(self) -> dict[str, Any]:
        """The settings and the state, in PyTorch's form: parameters are numbered over all groups.
        """
        numbers = {
            id(p): number
            for number, p in enumerate([p for group in self.param_groups for p in group["params"]])
        }
        groups = []
        state: dict[int, State] = {}
        for group in self.param_groups:
            settings = {name: value for name, value in group.items() if name != "params"}
            members = [numbers[id(p)] for p in group["params"]]
            groups.append({**settings, "params": members})
            for p in group["params"]:
                if not float(self.clocks.of(p)):
                    continue  # nothing is known of it yet
                own = {n: tensor.detach() for n, tensor in self.state[id(p)].items()}
                own |= self._parts.whole_state(own, p)
                state[numbers[id(p)]] = {"step": self.clocks.of(p).detach(), **own}
        return {"state": state, "param_groups": groups}

    def __getstate__(self) -> dict[str, Any]:
        """The data of a copy or a pickle, with the state in the form of `state_dict`.

        In the optimizer, state and numbers of steps are stored by the ids of parameters, and a
        copy's parameters have other ids.
        """
        known = dict(self.__dict__)
        for name in ("state", "clocks", "_repeated", "_captured"):
            known.pop(name, None)
        known["param_groups"] = [dict(group) for group in self.param_groups]
        return {"attributes": known, "state": self.state_dict()}

    def __setstate__(self, given: dict[str, Any]) -> None:
        self.__dict__.update(given["attributes"])
        groups = self.param_groups
        self.param_groups, self.clocks = [], Clocks()
        self.state = StateByParameter({}, self.clocks.of)
        self._repeated = RepeatedSteps()
        for group in groups:
            self.add_param_group(group)
        self.load_state_dict(given["state"])

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state that `state_dict` gave.

        Raises `StateError` if it belongs to other parameters.
        """
        sizes = [len(group["params"]) for group in self.param_groups]
        given = [len(group["params"]) for group in state["param_groups"]]
        if sizes != given:
            raise StateError(
                f"the groups of the state have {given} parameters, those of the optimizer {sizes}"
            )
        pairs: list[tuple[Tensor, Any]] = []
        steps: dict[int, float] = {}
        for group, other in zip(self.param_groups, state["param_groups"], strict=True):
            for parameter, number in zip(group["params"], other["params"], strict=True):
                own = self.state[id(parameter)]
                entry = state["state"].get(number)
                if entry is None:  # it had taken no step
                    initial = self.make_state(self._parts.own(parameter), group)
                    pairs += [(own[name], initial.get(name, own[name] * 0)) for name in own]
                    steps[id(parameter)] = 0.0
                    continue
                missing = [name for name in own if name not in entry]
                if missing:
                    raise StateError(f"the state of parameter {number} lacks {missing[0]!r}")
                pairs += [
                    (tensor, self._parts.own_state(entry[name], tensor, parameter))
                    for name, tensor in own.items()
                ]
                steps[id(parameter)] = float(entry.get("step", 1))  # PyTorch's SGD has no count
        load_tensors(pairs)
        self.clocks.load(steps)
        for group, other in zip(self.param_groups, state["param_groups"], strict=True):
            group.update({name: value for name, value in other.items() if name != "params"})

    def __repr__(self) -> str:
        lines = []
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
            lines.append("")
        return "\n".join([f"{type(self).__name__} (", *lines[:-1], ")"])


def _in_own_memory(value: Tensor) -> Tensor:
    """A copy of a value in memory of its own, since equal constants would share a node."""
    if value.device == DEFAULT_DEVICE or is_group(value.device):
        return value.contiguous().realize()
    return to_tensor(value.numpy(), value.device)
