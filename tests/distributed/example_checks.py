"""The examples over ranks: they learn what one process does, for `EXAMPLE_STEPS` steps."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import numpy

from ogive import Tensor, distributed

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

small_gpt: Any = importlib.import_module("small_gpt")
small_gpt.STEPS = int(os.environ.get("EXAMPLE_STEPS", "5"))
expected: list[Any] = []


def compare(losses: list[float]) -> None:
    if not expected:
        own = small_gpt.train(small_gpt.make_model()) if distributed.rank() == 0 else losses
        expected.append(distributed.broadcast(Tensor(own)).numpy())
    numpy.testing.assert_allclose(losses, expected[0], atol=1e-5)
    assert losses[-1] < losses[0]


def example(name: str) -> Any:
    return importlib.import_module(name)


def state_bytes(optimizer: Any) -> int:
    return sum(
        tensor.numel() * tensor.dtype.itemsize
        for own in optimizer.state.values()
        for tensor in own.values()
    )


def check_data_parallel() -> None:
    compare(example("train_data_parallel").over_ranks())


def check_tensor_parallel() -> None:
    compare(example("train_tensor_parallel").over_ranks())


def check_sequence_parallel() -> None:
    compare(example("train_sequence_parallel").over_ranks())


def check_pipeline() -> None:
    compare(example("train_pipeline").over_ranks())


def check_fully_sharded_and_that_a_rank_has_its_share_of_the_state() -> None:
    module = example("train_fully_sharded")
    whole = state_bytes(small_gpt.make_optimizer(small_gpt.make_model().parameters()))
    for train in (module.over_ranks, module.state_over_ranks):
        compare(train())
        assert state_bytes(module.made[-1]) <= 1.1 * whole / distributed.size()
