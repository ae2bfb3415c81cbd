"""`torch.Tensor` as a class that programs add attributes to."""

from __future__ import annotations

from typing import Any

import ogive
import ogive.torch as torch


def test_a_method_that_a_program_adds_is_one_of_all_tensors() -> None:
    torch.Tensor.doubled = lambda self: self * 2
    try:
        assert torch.ones(2).doubled().tolist() == [2.0, 2.0]
        lazy: Any = ogive.ones(2)
        assert lazy.doubled().tolist() == [2.0, 2.0]
        assert torch.nn.Parameter(torch.ones(1)).doubled().tolist() == [2.0]
    finally:
        del torch.Tensor.doubled
    assert not hasattr(torch.ones(2), "doubled")


def test_a_method_can_be_wrapped_and_given_back() -> None:
    seen: list[Any] = []
    own = torch.Tensor.backward

    def noting(self: Any, *args: Any, **kwargs: Any) -> None:
        seen.append(self.item())
        own(self, *args, **kwargs)

    small: Any = torch.ones(2, requires_grad=True)
    large: Any = ogive.ones(2).requires_grad_()
    torch.Tensor.backward = noting
    try:
        small.sum().backward()
        large.sum().backward()
    finally:
        torch.Tensor.backward = own
    assert seen == [2.0, 2.0]
    assert small.is_eager
    (small * 3).sum().backward()
    (large * 3).sum().backward()
    assert seen == [2.0, 2.0]
    assert small.grad.tolist() == large.grad.tolist() == [4.0, 4.0]


def test_an_attribute_of_a_derived_class_is_its_own() -> None:
    class Image(torch.Tensor):  # type: ignore[misc]
        pass

    Image.channels = 3
    assert not hasattr(torch.ones(1), "channels")
