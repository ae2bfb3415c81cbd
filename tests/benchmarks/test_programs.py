"""The benchmark of loops as people write them."""

from __future__ import annotations

import numpy
import torch

import ogive.torch
from benchmarks.calls import CALLS, calls_for
from benchmarks.programs import programs_lines, rows_for


def test_rows_give_the_same_in_both_libraries() -> None:
    for (name, turn), (_, peer) in zip(rows_for(ogive.torch), rows_for(torch), strict=True):
        if "MLP" in name or "LSTM" in name or name in CALLS:
            continue  # begins with random weights
        for _ in range(3):
            found, wanted = turn(), peer()
            assert (found is None) == (wanted is None), name
            if wanted is not None:
                numpy.testing.assert_allclose(found, wanted, rtol=1e-4, err_msg=name)


def test_single_calls_give_results_of_the_same_shape_in_both_libraries() -> None:
    for (name, turn), (_, peer) in zip(calls_for(ogive.torch), calls_for(torch), strict=True):
        found, wanted = turn(), peer()
        if isinstance(wanted, torch.Tensor):
            assert tuple(found.shape) == tuple(wanted.shape), name
        elif isinstance(wanted, list | tuple | dict):
            assert len(found) == len(wanted), name
        else:
            assert (found is None) == (wanted is None), name


def test_a_line_says_how_many_times_the_peers_time_it_takes() -> None:
    _, lines = programs_lines({"x + 1": {"ogive": 3e-5, "torch": 1e-5}})
    assert lines == [["x + 1", "10.0", "30.0", "3.0"]]
