"""Errors of what small tensors cannot do: a program sees one, about its own line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import ogive.torch as torch
from ogive.errors import OgiveError
from tests.raising import raises

MISTAKES: dict[str, Callable[[], Any]] = {
    "shapes": lambda: torch.zeros(2, 3) + torch.zeros(2, 4),
    "shapes of a product": lambda: torch.zeros(2, 3) @ torch.zeros(2, 3),
    "dtypes of a product": lambda: torch.zeros(2, 2) @ torch.zeros(2, 2, dtype=torch.int64),
    "a view": lambda: torch.zeros(2, 3).view(4, 2),
    "a position": lambda: torch.zeros(3)[5],
    "positions in a tensor": lambda: torch.zeros(3)[torch.tensor([5])],
    "a position to write to": lambda: torch.zeros(3).__setitem__(5, 1.0),
    "an axis to split": lambda: torch.zeros(5).split([2, 2]),
    "no parts": lambda: torch.zeros(5).chunk(0),
    "a shape in place": lambda: torch.zeros(1).add_(torch.zeros(2)),
    "a ragged list": lambda: torch.tensor([[1, 2], [3]]),
    "a list of text": lambda: torch.tensor(["a", "b"]),
    "a device": lambda: torch.zeros(1).to("gpu"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_an_error_tells_of_no_attempt_before_it(name: str) -> None:
    with raises(OgiveError, match=".", quoting=r"test_refusals\.py") as caught:
        MISTAKES[name]()
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_an_error_keeps_the_one_that_a_program_was_handling() -> None:
    own = KeyError("of the program")
    with pytest.raises(OgiveError) as caught:
        try:
            raise own
        except KeyError:
            torch.zeros(2, 3) + torch.zeros(2, 4)
    assert caught.value.__context__ is own
