"""What tensors, parameters and models show of themselves, and errors of others' tensors."""

from __future__ import annotations

from typing import Any

import torch

import ogive
from ogive import Tensor, nn
from ogive.errors import ArgumentTypeError, AxisError
from tests.raising import raises


def test_a_small_tensor_is_computed_to_be_shown() -> None:
    assert repr(ogive.ones(2) * 3) == "Tensor([3., 3.], shape=(2,), dtype=float32, device=CPU)"


def test_a_large_one_says_how_to_compute_it() -> None:
    x = ogive.rand(40, 40)
    assert "lazy; print() or realize() computes it" in repr(x)
    assert not x.is_realized


def test_a_captured_tensor_has_no_values_to_show() -> None:
    shown = []

    def double(x: ogive.Tensor) -> ogive.Tensor:
        shown.append(repr(x * 2))
        return x * 2

    ogive.jit(double)(ogive.ones(3).contiguous().realize())
    assert "inside a captured function" in shown[0]


def test_gradients_are_shown() -> None:
    weight = nn.Parameter(ogive.ones(2))
    assert repr(weight).startswith("Parameter containing:\nTensor([1., 1.]")
    assert "requires_grad=True" in repr(weight)
    product = weight * 2
    assert "grad_fn=<MulBackward>" in repr(product)
    assert "grad_fn=<MulBackward>" in repr(product.realize())
    assert weight.grad_fn is None


def test_notebooks_show_html() -> None:
    assert "<pre>Tensor([1., 1.]" in ogive.ones(2)._repr_html_()
    assert nn.Linear(1, 1)._repr_html_().startswith("<pre>Linear(")


def test_a_model_is_summed_up() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5), nn.Linear(3, 1))
    model[0].requires_grad_(False)
    found = ogive.summary(model, ogive.ones(4, 2))
    assert [row[:3] for row in found.rows] == [
        ("0", "Linear", "(4, 3)"), ("1", "Dropout", "(4, 3)"), ("2", "Linear", "(4, 1)"),
        ("", "Sequential", "(4, 1)"),
    ]  # fmt: skip
    assert (found.total_parameters, found.trained_parameters) == (13, 4)
    assert "13 parameters, 4 of them trained" in str(found)
    assert model.training


def test_strides_are_pytorchs() -> None:
    ours, theirs = (library.zeros(2, 3, 4) for library in (ogive, torch))
    views: list[Any] = [
        lambda x: x, lambda x: x.transpose(0, 2), lambda x: x[:, ::2], lambda x: x[1],
    ]  # fmt: skip
    for view in views:
        assert view(ours).stride() == view(theirs).stride()
    assert ours.stride(-1) == 1


def test_another_librarys_tensor_is_named() -> None:
    x = torch.ones(3)
    for call in (
        lambda: ogive.ones(3) + x, lambda: nn.Linear(3, 1)(x), lambda: ogive.cat([x]),
    ):  # fmt: skip
        with raises(ArgumentTypeError, match=r"torch\.Tensor; ogive\.from_dlpack"):
            call()


def test_the_stride_of_an_axis_that_is_not_there_is_refused() -> None:
    x = Tensor([[1, 2, 3]])
    assert (x.stride(0), x.stride(-1)) == (3, 1)
    with raises(AxisError, match="has no axis 5"):
        x.stride(5)
