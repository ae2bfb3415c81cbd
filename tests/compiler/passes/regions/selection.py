"""Tensors built from the primitives that the library's indexing stands on."""

from __future__ import annotations

from ogive import Config, Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live.registry import graph_lock
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.tensor import build
from ogive.tensor.core import wrap
from tests.compiler.passes.parametric import normalize


def gather(x: Tensor, *indices: Tensor) -> Tensor:
    """`x[indices[0][p], indices[1][p], ...]` for every position p of the indices."""
    with graph_lock:
        return wrap(build.gather(x.node, nodes(indices)), x.device)


def scatter(x: Tensor, value: Tensor, *indices: Tensor, op: Op | None = None) -> Tensor:
    """`x` with `value[p]` at `indices[0][p], indices[1][p], ...` for every position p in order."""
    with graph_lock:
        return wrap(build.scatter(x.node, value.node, nodes(indices), op), x.device)


def scan(x: Tensor, op: Op, axis: int) -> Tensor:
    """What all elements up to each one along an axis combine to."""
    with graph_lock:
        return wrap(build.scan(x.node, op, axis), x.device)


def kernels_of(*tensors: Tensor) -> list[UOp]:
    """The region graphs that compute some tensors."""
    normalized = normalize(tuple(nodes(tensors)))
    schedule = schedule_graph(normalized.sink, host_target(), Config(verify=True))
    return [step.region.graph for step in schedule.kernels]


def nodes(tensors: tuple[Tensor, ...]) -> list[UOp]:
    return [tensor.node for tensor in tensors]


def count_along(axis: int, shape: Shape) -> Tensor:
    """The position along one axis, everywhere in `shape`."""
    with graph_lock:
        return wrap(build.count_along(axis, shape), "CPU")
