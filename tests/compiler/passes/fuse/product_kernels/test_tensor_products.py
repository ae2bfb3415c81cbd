"""For tensor cores, products are kernels of their own, and what they multiply is kept narrow."""

from __future__ import annotations

import numpy
import pytest

import ogive
from ogive import Tensor
from ogive.compiler.devices.cuda.gpu import GpuFacts
from ogive.compiler.devices.cuda.gpu_target import target_of
from ogive.compiler.engine.parametric import to_parametric
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.fuse.choose_kept import choose_kept
from ogive.compiler.targets.target import Target
from ogive.config import current_config

FACTS = GpuFacts(
    "with tensor cores", major=9, minor=0, memory_bytes=1 << 30, multiprocessors=132,
    most_threads=1024, shared_bytes=227 << 10, l2_bytes=60 << 20, tensor_cores=True,
)  # fmt: skip
TENSOR_CORES = target_of(FACTS)
THREADS = target_of(FACTS._replace(tensor_cores=False))


def _kept(tensor: Tensor, target: Target = TENSOR_CORES) -> list[UOp]:
    config = current_config()
    sink = to_parametric((tensor.node,), config).sink
    return choose_kept(sink, target, config.kernel_node_limit).kept


def _holds_product(node: UOp, kept: list[UOp]) -> bool:
    """Whether the kernel of a kept value has a sum, and that is all but elementwise work."""
    waiting, seen = [node], {node}
    while waiting:
        for source in waiting.pop().src:
            if source not in seen and source not in kept:
                seen.add(source)
                waiting.append(source)
    return sum(here.op is Op.REDUCE_AXES for here in seen) == 1


def _narrow(*shape: int) -> Tensor:
    values = numpy.zeros(shape, numpy.float32)
    return Tensor(values).cast(ogive.bfloat16).realize()


def test_between_products_the_narrow_value_is_kept() -> None:
    hidden, result = _kept((_narrow(64, 128) @ _narrow(128, 256)).gelu() @ _narrow(256, 64))
    assert hidden.dtype is result.dtype is ogive.bfloat16


def test_a_softmax_reads_its_scores_from_memory() -> None:
    scores, *_ = _kept((_narrow(64, 128) @ _narrow(128, 64)).softmax(-1))
    assert scores.dtype is ogive.bfloat16
    assert _holds_product(scores, [])


def test_what_follows_a_product_stays_with_it() -> None:
    product = _narrow(64, 128) @ _narrow(128, 64)
    (result,) = _kept((product * 2 + _narrow(64)).relu() + _narrow(64, 64))
    assert _holds_product(result, [])


def test_two_products_are_two_kernels() -> None:
    product = _narrow(64, 128) @ _narrow(128, 64) + _narrow(64, 32) @ _narrow(32, 64)
    kept = _kept(product)
    assert len(kept) == 2
    assert all(_holds_product(node, kept[:1]) for node in kept[1:])


def test_what_is_multiplied_is_computed_before() -> None:
    operand, _ = _kept((_narrow(64, 128) * 2) @ _narrow(128, 64))
    assert operand.dtype is ogive.bfloat16
    assert operand.shape == (64, 128)


def test_axes_that_lie_apart_are_joined_by_a_copy() -> None:
    heads = _narrow(2, 4, 32, 16).permute(0, 2, 1, 3).reshape(64, 64)
    copy, _ = _kept(heads @ _narrow(64, 64))
    assert copy.op is Op.RESHAPE
    assert copy.dtype is ogive.bfloat16


def test_heads_are_read_where_they_are() -> None:
    query, key = (_narrow(2, 32, 4, 16).permute(0, 2, 1, 3) for _ in range(2))
    assert len(_kept(query @ key.transpose(-1, -2))) == 1


@pytest.mark.parametrize(
    "product",
    [
        lambda: _narrow(4, 128) @ _narrow(128, 64),
        lambda: _narrow(64, 8) @ _narrow(8, 64),
        lambda: _narrow(64, 128).float() @ _narrow(128, 64).float().exp(),
    ],
)
def test_other_products_are_as_they_are_for_threads(product: object) -> None:
    assert callable(product)
    scores = product().softmax(-1)
    assert len(_kept(scores)) == len(_kept(scores, THREADS))
