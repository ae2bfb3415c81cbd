"""The switches inside of autocast do as PyTorch's do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch as pytorch

import ogive.torch
from ogive.errors import DtypeError
from ogive.tensor import autocast_dtypes
from tests.raising import raises

BOTH = pytest.mark.parametrize("torch", [pytorch, ogive.torch], ids=["pytorch", "ogive"])


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    for torch in (pytorch, ogive.torch):
        torch.set_autocast_enabled("cpu", False)
        torch.set_autocast_enabled("cuda", False)
        torch.set_autocast_dtype("cpu", torch.bfloat16)
        torch.set_autocast_dtype("cuda", torch.float16)


def product(torch: Any) -> Any:
    return (torch.ones(2, 2) @ torch.ones(2, 2)).dtype


@BOTH
def test_the_cpu_is_switched_without_a_context(torch: Any) -> None:
    torch.set_autocast_enabled("cpu", True)
    assert torch.is_autocast_enabled("cpu") and torch.is_autocast_cpu_enabled()
    assert not torch.is_autocast_enabled()
    assert product(torch) is torch.bfloat16
    torch.set_autocast_cpu_enabled(False)
    assert product(torch) is torch.float32


def test_nothing_is_left_of_a_switch_that_was_turned_off() -> None:
    ogive.torch.set_autocast_enabled("cpu", True)
    with ogive.torch.autocast("cpu"):
        ogive.torch.set_autocast_enabled("cpu", False)
    assert product(ogive.torch) is ogive.torch.bfloat16
    ogive.torch.set_autocast_enabled("cpu", False)
    assert not autocast_dtypes.chosen and not autocast_dtypes.outside


@BOTH
def test_a_switch_inside_of_a_context_ends_with_it(torch: Any) -> None:
    with torch.autocast("cpu"):
        torch.set_autocast_enabled("cpu", False)
        assert product(torch) is torch.float32
        torch.set_autocast_enabled("cpu", True)
        torch.set_autocast_dtype("cpu", torch.float16)
        assert product(torch) is torch.get_autocast_cpu_dtype() is torch.float16
    assert product(torch) is torch.float32
    assert torch.get_autocast_dtype("cpu") is torch.bfloat16


@BOTH
def test_contexts_take_the_dtype_that_was_set(torch: Any) -> None:
    torch.set_autocast_cpu_dtype(torch.float16)
    with torch.autocast("cpu"):
        assert product(torch) is torch.float16
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.autocast("cpu"):
        assert product(torch) is torch.bfloat16


@BOTH
def test_the_switches_of_cuda_are_kept(torch: Any) -> None:
    assert torch.get_autocast_gpu_dtype() is torch.get_autocast_dtype("cuda") is torch.float16
    torch.set_autocast_enabled(True)
    torch.set_autocast_gpu_dtype(torch.bfloat16)
    assert torch.is_autocast_enabled() and torch.is_autocast_enabled("cuda")
    assert torch.get_autocast_gpu_dtype() is torch.bfloat16
    assert product(torch) is torch.float32
    with raises((RuntimeError, ValueError), match="abacus"):
        torch.is_autocast_enabled("abacus")


@BOTH
def test_nesting_and_caching_are_counted_and_kept(torch: Any) -> None:
    assert torch.autocast_increment_nesting() == 1
    assert torch.autocast_decrement_nesting() == 0
    torch.set_autocast_cache_enabled(False)
    assert not torch.is_autocast_cache_enabled()
    torch.set_autocast_cache_enabled(True)
    torch.clear_autocast_cache()
    assert torch.is_autocast_cache_enabled()


@BOTH
def test_contexts_are_entered_and_left_by_hand(torch: Any) -> None:
    mode = torch.amp.autocast_mode._enter_autocast("cpu", torch.float16, True, True)
    assert product(torch) is torch.float16
    torch.amp.autocast_mode._exit_autocast(mode)
    assert product(torch) is torch.float32
    run = torch.amp.autocast_mode.autocast_decorator(torch.autocast("cpu"), product)
    assert run(torch) is torch.bfloat16


@BOTH
def test_a_thread_has_switches_of_its_own(torch: Any) -> None:
    torch.set_autocast_enabled("cpu", True)
    seen: list[Any] = []
    other = threading.Thread(target=lambda: seen.append(torch.is_autocast_enabled("cpu")))
    other.start()
    other.join()
    assert seen == [False]


def test_a_dtype_without_autocast_is_refused() -> None:
    with raises(DtypeError, match="not in float64"):
        ogive.torch.set_autocast_dtype("cpu", ogive.float64)
