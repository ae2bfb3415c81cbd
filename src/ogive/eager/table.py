"""The methods of eager tensors: the methods of `Tensor` with forms, under all their names."""

from __future__ import annotations

from typing import Any

from ogive.eager import methods
from ogive.eager.dtype_rules import declare_rules
from ogive.eager.elementwise import (  # noqa: F401  (they declare their forms)
    activation_forms,
    arithmetic_forms,
    cast_forms,
    choice_forms,
    comparison_forms,
    complex_forms,
    quotient_forms,
    special_forms,
    unary_forms,
)
from ogive.eager.forms import calls, dispatching, forms
from ogive.eager.gradients import (  # noqa: F401  (rules are declared)
    affine_rules,
    backward_passes,
    second_elementwise_rules,
    second_layer_rules,
    second_movement_rules,
)
from ogive.eager.layers import (  # noqa: F401  (they declare their forms)
    alignment_forms,
    attention_forms,
    class_loss_forms,
    column_forms,
    convolution_forms,
    grid_forms,
    loss_forms,
    normalization_forms,
    pooling_forms,
    recurrence_forms,
    resize_forms,
)
from ogive.eager.products import (  # noqa: F401  (they declare their forms)
    contraction_forms,
    matrix_forms,
    product_forms,
    transform_forms,
)
from ogive.eager.reductions import (  # noqa: F401  (they declare their forms)
    deviation_forms,
    exponential_forms,
    reduction_forms,
    running_forms,
)
from ogive.eager.shapes import (  # noqa: F401  (they declare their forms)
    distinct_forms,
    elements,
    index_forms,
    join_forms,
    movement_forms,
    order_forms,
    scatter_forms,
)
from ogive.eager.tensors import Eager
from ogive.eager.training import (
    custom_functions,
    draws_at_once,
    eager_parameters,
    new_tensors,
    optimizer_steps,
)
from ogive.eager.writing import in_place, turn_in_place
from ogive.tensor.late_methods import load_methods
from ogive.tensor.memory.in_place_operations import turned_by, written_by
from ogive.tensor.method_functions import eager_calls
from ogive.tensor.tensor import Tensor


def fill_table() -> None:
    """Add the methods to `Eager`, and register the eager versions of functions."""
    complex_forms.let_take_complex()
    declare_rules()
    affine_rules.let_be_affine()
    for function, own in forms.items():
        eager_calls[function] = dispatching(own)
    eager_calls.update(calls)
    load_methods(Tensor)
    for name, attribute in vars(Tensor).items():
        made = _method(attribute)
        if made is not attribute:
            setattr(Eager, name, made)
    for module in (
        methods, elements, backward_passes, comparison_forms, cast_forms, new_tensors,
        draws_at_once, eager_parameters,
    ):  # fmt: skip
        for name, function in module.METHODS.items():
            setattr(Eager, name, function)
            eager_calls[getattr(Tensor, name)] = function
    for module in (
        new_tensors, backward_passes, custom_functions, draws_at_once, eager_parameters,
        optimizer_steps,
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
    if turned_by.get(attribute) in forms:
        return turn_in_place(eager_calls[turned_by[attribute]], attribute)
    return attribute
