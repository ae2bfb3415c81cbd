"""`torch.distributed.checkpoint.state_dict`: states of models and optimizers, by parameter names.
"""

from __future__ import annotations

from typing import Any

from ogive.named import record
from ogive.nn.module import AnyModule

__all__ = [
    "StateDictOptions", "get_model_state_dict", "get_optimizer_state_dict", "get_state_dict",
    "set_model_state_dict", "set_optimizer_state_dict", "set_state_dict",
]  # fmt: skip


@record
class StateDictOptions:
    """Options for gathering states from processes. In one process, only `strict` has an effect."""

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False


def get_model_state_dict(model: AnyModule, *, submodules: Any = None, options: Any = None) -> Any:
    """The state of a model."""
    return model.state_dict()


def set_model_state_dict(model: AnyModule, model_state_dict: Any, *, options: Any = None) -> Any:
    """Load a state into a model."""
    return model.load_state_dict(model_state_dict, strict=options is None or options.strict)


def get_optimizer_state_dict(
    model: AnyModule, optimizers: Any, *, submodules: Any = None, options: Any = None
) -> dict[str, Any]:
    """The state of an optimizer, with the names of parameters in the place of their numbers."""
    names, state = _names(model, optimizers), optimizers.state_dict()
    groups = [{**group, "params": [names[n] for n in group["params"]]}
              for group in state["param_groups"]]  # fmt: skip
    return {"state": {names[n]: v for n, v in state["state"].items()}, "param_groups": groups}


def set_optimizer_state_dict(
    model: AnyModule, optimizers: Any, optim_state_dict: Any, *, options: Any = None
) -> None:
    """Load a state, given by names of parameters, into an optimizer."""
    numbers = {name: number for number, name in enumerate(_names(model, optimizers))}
    groups = [{**group, "params": [numbers[name] for name in group["params"]]}
              for group in optim_state_dict["param_groups"]]  # fmt: skip
    state = {numbers[name]: value for name, value in optim_state_dict["state"].items()}
    optimizers.load_state_dict({"state": state, "param_groups": groups})


def get_state_dict(model: AnyModule, optimizers: Any, **options: Any) -> tuple[Any, Any]:
    """The states of a model and its optimizer."""
    return get_model_state_dict(model), get_optimizer_state_dict(model, optimizers)


def set_state_dict(
    model: AnyModule, optimizers: Any, *, model_state_dict: Any, optim_state_dict: Any,
    options: Any = None,
) -> Any:  # fmt: skip
    """Load the states of a model and its optimizer."""
    set_optimizer_state_dict(model, optimizers, optim_state_dict)
    return set_model_state_dict(model, model_state_dict, options=options)


def _names(model: AnyModule, optimizer: Any) -> list[str]:
    """The names of the optimizer's parameters, in its order."""
    named = {id(parameter): name for name, parameter in model.named_parameters()}
    return [named[id(p)] for group in optimizer.param_groups for p in group["params"]]
