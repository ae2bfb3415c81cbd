"""The LLVM IR of a few kernels, in full, for a machine described by hand.

After a change of the emitter, run this module with `--update-goldens` and read the difference.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from ogive import Config, Tensor
from ogive.compiler.devices.llvm.compile_region import compile_region
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.targets.target import Target
from tests.compiler.passes.parametric import normalize
from tests.compiler.passes.regions.selection import count_along, gather, scan, scatter
from tests.conftest import Golden

TARGET = Target(
    triple="x86_64-unknown-linux-gnu",
    cpu="x86-64-v4",
    features="",
    vector_bytes=64,
    masked=True,
    vector_registers=32,
    l1_bytes=32 << 10,
    l2_bytes=1 << 20,
    l3_bytes=8 << 20,
)


def data(*shape: int) -> Tensor:
    return Tensor(np.zeros(shape, np.float32))


def whole(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, np.int32))


def whole_numbers(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, np.int64))


def _rows(x: Tensor, index: Tensor) -> Tensor:
    shape = (index.shape[0], x.shape[1])
    return gather(x, index.reshape(shape[0], 1).expand(*shape), count_along(1, shape))


def _added_rows() -> Tensor:
    shape = (5, 64)
    index = whole_numbers(5).reshape(5, 1).expand(*shape)
    return scatter(data(9, 64), data(*shape), index, count_along(1, shape), op=Op.ADD)


KERNELS: dict[str, Callable[[], Tensor]] = {
    "elementwise": lambda: data(1000) * 2 + data(1000),
    "transpose": lambda: data(64, 32).T.contiguous(),
    "pad": lambda: data(5).pad(((2, 1),), value=7),
    "row_sum": lambda: (data(8, 100) + 1).sum(-1),
    "softmax_free": lambda: data(6, 40) - data(6, 40).amax(-1, keepdim=True),
    "product": lambda: data(4, 8) @ data(8, 16),
    "checked_division": lambda: whole(20) // whole(20),
    "gather_rows": lambda: _rows(data(9, 64), whole_numbers(5)),
    "scatter_rows": _added_rows,
    "scan_columns": lambda: scan(data(6, 64), Op.ADD, 0),
    "bool_from_bytes": lambda: (data(10) > 0) & (data(10) < 1),
}


def emitted(tensor: Tensor, target: Target = TARGET) -> str:
    """The code of the last kernel that computes a tensor; of most it is the only one."""
    config = Config(verify=True)
    step = schedule_graph(normalize((tensor.node,)).sink, target, config).kernels[-1]
    kernel = compile_region(step.region.graph, target, config)
    axes = ", ".join(f"{placement} {length}" for placement, length in kernel.axes)
    return f"; {kernel.name}\n; axes: {axes or 'none'}\n{kernel.ir}"


@pytest.mark.parametrize("name", KERNELS)
def test_the_emitted_code_is_as_recorded(name: str, golden: Golden) -> None:
    golden.check(f"{name}.ll", emitted(KERNELS[name]()))


def test_a_product_of_bytes_is_as_recorded(golden: Golden) -> None:
    target = dataclasses.replace(TARGET, features="+avx512vnni")
    operand = Tensor(np.zeros((32, 32), np.int8))
    product = operand.cast("int32") @ operand.cast("int32")
    golden.check("product_of_bytes.ll", emitted(product, target))


def test_the_same_region_gives_the_same_text_every_time() -> None:
    build = KERNELS["softmax_free"]
    assert emitted(build()) == emitted(build())
