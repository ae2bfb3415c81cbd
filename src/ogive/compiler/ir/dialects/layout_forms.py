"""Checks of values over several devices, beyond those of the op table."""

from __future__ import annotations

import math

from ogive.compiler.ir.dialects.tensor_forms import Problem
from ogive.compiler.ir.layouts import COPIES, Layout
from ogive.compiler.ir.node import UOp


def expect_layout(node: UOp) -> Problem:
    if node.src[0].dtype is not node.dtype:
        return f"the dtype of the source, {node.src[0].dtype.name}"
    layout = Layout(*node.arg[:3])
    return _expect_mesh(layout) or _expect_split(layout, node.src[0].shape)


def expect_parts(node: UOp) -> Problem:
    layout = Layout(*node.arg)
    problem = _expect_mesh(layout)
    if problem is not None:
        return problem
    if len(node.parts) != len(layout.devices):
        return f"a part for each of {len(layout.devices)} devices, not {len(node.parts)}"
    first = node.parts[0]
    if any(part.shape != first.shape or part.dtype is not node.dtype for part in node.parts):
        return "parts of one shape, and of the dtype of the node"
    return _expect_split(layout, node.shape)


def expect_part(node: UOp) -> Problem:
    if not 0 <= node.number < len(node.devices or ()):
        return "the number of a device of the layout"
    return expect_layout(node)


def _expect_mesh(layout: Layout) -> Problem:
    fits = len(layout.devices) == math.prod(layout.mesh) and min(layout.mesh, default=0) > 0
    if not fits or len(set(layout.devices)) != len(layout.devices):
        return "a mesh with one place for each device, and no device twice"
    return None if len(layout.mesh) == len(layout.split) else "an axis for each axis of the mesh"


def _expect_split(layout: Layout, shape: tuple[object, ...]) -> Problem:
    divided = [axis for axis in layout.split if axis != COPIES]
    if len(set(divided)) != len(divided) or not set(divided) <= set(range(len(shape))):
        return "different axes of the value to be divided"
    for size, axis in zip(layout.mesh, layout.split, strict=True):
        length = shape[axis] if axis != COPIES else 0
        if not isinstance(length, int) or length % size:
            return f"axis {axis} of {shape} to be divided into {size} equal parts"
    return None
