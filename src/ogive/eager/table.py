"""The methods of eager tensors: those of `Tensor` that have forms, under all their names."""

from __future__ import annotations

from typing import Any

from ogive.eager import (  # noqa: F401  (they declare their forms)
    activations,
    attention,
    backward_passes,
    choices,
    class_losses,
    columns,
    comparisons,
    contractions,
    conversions,
    convolutions,
    creation,
    custom_functions,
    deviations,
    draws,
    elementwise,
    exponentials,
    indexing,
    joins,
    losses,
    matrices,
    methods,
    movement,
    normalization,
    optimizers,
    ordering,
    parameters,
    pooling,
    products,
    quotients,
    recurrence,
    reduction,
    running,
    unary,
)
from ogive.eager.forms import calls, dispatching, forms
from ogive.eager.tensors import Eager
from ogive.eager.writing import in_place
from ogive.tensor.memory.in_place_operations import written_by
from ogive.tensor.method_functions import eager_calls
from ogive.tensor.tensor import Tensor


def fill_table() -> None:
    """Give `Eager` its methods, and functions what they do for eager tensors."""
    for function, own in forms.items():
        eager_calls[function] = dispatching(own)
    eager_calls.update(calls)
    for name, attribute in vars(Tensor).items():
        made = _method(attribute)
        if made is not attribute:
            setattr(Eager, name, made)
    for module in (
        methods, backward_passes, comparisons, conversions, creation, draws, parameters,
    ):  # fmt: skip
        for name, function in module.METHODS.items():
            setattr(Eager, name, function)
            eager_calls[getattr(Tensor, name)] = function
    for module in (
        creation, backward_passes, custom_functions, draws, parameters, optimizers,
    ):  # fmt: skip
        eager_calls.update(module.CALLS)
    for name, (get, put) in methods.ATTRIBUTES.items():
        setattr(Eager, name, property(get, put, doc=get.__doc__))


def _method(attribute: Any) -> Any:
    if isinstance(attribute, property) and attribute.fget in forms:
        return property(eager_calls[attribute.fget], attribute.fset, doc=attribute.__doc__)
    if not callable(attribute):
        return attribute
    if attribute in eager_calls:
        return eager_calls[attribute]
    if written_by.get(attribute) in forms:
        return in_place(eager_calls[written_by[attribute]], attribute)
    return attribute
