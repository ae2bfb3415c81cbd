"""Classes that a program registers are branches of trees."""

from __future__ import annotations

from typing import Any

import pytest
import torch as pytorch

import ogive.torch


class Pair:
    """Two trees and a name, which is no leaf."""

    def __init__(self, first: Any, second: Any, name: str) -> None:
        self.first, self.second, self.name = first, second, name


@pytest.mark.parametrize("torch", [ogive.torch, pytorch], ids=["ogive", "pytorch"])
def test_a_registered_class_is_a_branch(torch: Any) -> None:
    trees = __import__(f"{torch.__name__}.utils._pytree", fromlist=["_pytree"])

    class Own(Pair):
        """Known to one library only."""

    trees.register_pytree_node(
        Own,
        lambda pair: ([pair.first, pair.second], pair.name),
        lambda parts, name: Own(parts[0], parts[1], name),
    )
    leaves, spec = trees.tree_flatten({"a": Own(1, [2, 3], "x"), "b": 4})
    assert leaves == [1, 2, 3, 4]
    made = trees.tree_unflatten([each * 10 for each in leaves], spec)
    assert (made["a"].first, made["a"].second, made["a"].name, made["b"]) == (10, [20, 30], "x", 40)
