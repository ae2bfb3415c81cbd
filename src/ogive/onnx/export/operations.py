"""The standard operators that each op is written as."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import movement_argument
from ogive.errors import ArgumentError
from ogive.onnx.export.lengths_of_axes import Axes
from ogive.onnx.export.model_emitter import Emitter
from ogive.onnx.export.products import broadcast_sources, equation, find_product
from ogive.onnx.writing import ELEMENTS
from ogive.tensor.neural.convolution_products import Method

PLAIN = {
    Op.NEG: "Neg", Op.ABS: "Abs", Op.FLOOR: "Floor", Op.CEIL: "Ceil", Op.ROUND: "Round",
    Op.RECIPROCAL: "Reciprocal", Op.SQRT: "Sqrt", Op.EXP: "Exp", Op.LOG: "Log", Op.SIN: "Sin",
    Op.COS: "Cos", Op.TAN: "Tan", Op.ASIN: "Asin", Op.ACOS: "Acos", Op.ATAN: "Atan",
    Op.SINH: "Sinh", Op.COSH: "Cosh", Op.TANH: "Tanh", Op.ASINH: "Asinh", Op.ACOSH: "Acosh",
    Op.ATANH: "Atanh", Op.ERF: "Erf", Op.ADD: "Add", Op.SUB: "Sub", Op.MUL: "Mul", Op.DIV: "Div",
    Op.POW: "Pow", Op.MAXIMUM: "Max", Op.MINIMUM: "Min", Op.CMPLT: "Less",
    Op.CMPLE: "LessOrEqual", Op.CMPEQ: "Equal", Op.WHERE: "Where",
}  # fmt: skip
"""Ops that are an operator of their own."""

REDUCTIONS = {
    Op.ADD: "ReduceSum", Op.MUL: "ReduceProd", Op.MAXIMUM: "ReduceMax", Op.MINIMUM: "ReduceMin",
    Op.AND: "ReduceMin", Op.OR: "ReduceMax",
}  # fmt: skip

SCATTERED = {
    None: "none", Op.ADD: "add", Op.MUL: "mul", Op.MAXIMUM: "max", Op.MINIMUM: "min",
}  # fmt: skip


class Operations:
    """Writes nodes whose sources are written."""

    def __init__(self, emitter: Emitter, axes: Axes, names: Mapping[UOp, str]) -> None:
        self.emitter = emitter
        self.axes = axes
        self.names = names

    def write(self, node: UOp) -> str:
        """A node; gives its name. Raises `ArgumentError` for one that is no standard operator."""
        if node.op in PLAIN:
            return self.emitter.node(PLAIN[node.op], *self._broadcast(node))
        writer = _WRITERS.get(node.op)
        if writer is None:
            raise ArgumentError(
                f"onnx.save: {node.op.name} ({node.op.meaning}) is no standard operator"
            )
        written = writer(self, node)
        is_wider = node.op in (Op.REDUCE_AXES, Op.SCAN_AXIS) and node.operand.dtype != node.dtype
        return self.cast(written, node.dtype) if is_wider else written

    def _broadcast(self, node: UOp) -> list[str]:
        return [self.names[source] for source in broadcast_sources(node)]

    def cast(self, value: str, kind: Any) -> str:
        """A value in another dtype."""
        return self.emitter.node("Cast", value, to=ELEMENTS[kind])

    def constant(self, node: UOp) -> str:
        return self.emitter.scalar(node.literal, node.dtype)

    def reshape(self, node: UOp) -> str:
        return self.emitter.node("Reshape", self.names[node.operand], self.axes.shape(node.shape))

    def expand(self, node: UOp) -> str:
        return self.emitter.node("Expand", self.names[node.operand], self.axes.shape(node.shape))

    def permute(self, node: UOp) -> str:
        return self.emitter.node("Transpose", self.names[node.operand], perm=list(node.order))

    def pad(self, node: UOp) -> str:
        widths, fill = movement_argument(node)
        amounts = [before for before, _ in widths] + [after for _, after in widths]
        value = self.emitter.scalar(fill, node.dtype)
        source, kind = self.names[node.operand], node.dtype
        if kind is dtypes.bool_:  # which Pad does not take
            source, value = self.cast(source, dtypes.int32), self.cast(value, dtypes.int32)
        padded = self.emitter.node("Pad", source, self.axes.shape(amounts), value)
        return self.cast(padded, kind) if kind is dtypes.bool_ else padded

    def shrink(self, node: UOp) -> str:
        spans, lengths = movement_argument(node), node.operand.shape
        cut = [axis for axis, span in enumerate(spans) if span != (0, lengths[axis])]
        begins, ends = [spans[axis][0] for axis in cut], [spans[axis][1] for axis in cut]
        if not cut:
            return self.names[node.operand]
        return self.emitter.node(
            "Slice", self.names[node.operand], self.axes.shape(begins), self.axes.shape(ends),
            self.emitter.integers(cut),
        )  # fmt: skip

    def flip(self, node: UOp) -> str:
        count = len(node.arg)
        return self.emitter.node(
            "Slice", self.names[node.operand], self.emitter.integers([-1] * count),
            self.emitter.integers([-(1 << 62)] * count), self.emitter.integers(list(node.arg)),
            self.emitter.integers([-1] * count),
        )  # fmt: skip

    def iota(self, node: UOp) -> str:
        stop = node.shape[0]
        end = self.emitter.node("Squeeze", self.axes.length(stop), self.emitter.integers([0]))
        zero, one = (self.emitter.scalar(each, dtypes.int64) for each in (0, 1))
        counted = self.emitter.node("Range", zero, end, one)
        return counted if node.dtype is dtypes.int64 else self.cast(counted, node.dtype)

    def convert(self, node: UOp) -> str:
        return self.cast(self._broadcast(node)[0], node.dtype)

    def invert(self, node: UOp) -> str:
        name = "Not" if node.dtype is dtypes.bool_ else "BitwiseNot"
        return self.emitter.node(name, *self._broadcast(node))

    def truncate(self, node: UOp) -> str:
        (x,) = self._broadcast(node)
        down = self.emitter.node("Floor", self.emitter.node("Abs", x))
        return self.emitter.node("Mul", down, self.emitter.node("Sign", x))

    def differ(self, node: UOp) -> str:
        return self.emitter.node("Not", self.emitter.node("Equal", *self._broadcast(node)))

    def logic(self, node: UOp) -> str:
        names = {Op.AND: "And", Op.OR: "Or", Op.XOR: "Xor"}
        prefix = "" if node.dtype is dtypes.bool_ else "Bitwise"
        return self.emitter.node(prefix + names[node.op], *self._broadcast(node))

    def scaled_function(self, node: UOp) -> str:
        """Functions that others are, up to a number before or after."""
        (x,) = self._broadcast(node)
        kind = node.dtype
        if node.op is Op.RSQRT:
            return self.emitter.node("Reciprocal", self.emitter.node("Sqrt", x))
        if node.op is Op.EXP2:
            return self.emitter.node("Pow", self.emitter.scalar(2, kind), x)
        if node.op is Op.EXPM1:
            return self.emitter.node("Sub", self.emitter.node("Exp", x), self._one(kind))
        if node.op is Op.LOG1P:
            return self.emitter.node("Log", self.emitter.node("Add", x, self._one(kind)))
        if node.op is Op.ERFC:
            return self.emitter.node("Sub", self._one(kind), self.emitter.node("Erf", x))
        base = self.emitter.scalar(1 / math.log(2 if node.op is Op.LOG2 else 10), kind)
        return self.emitter.node("Mul", self.emitter.node("Log", x), base)

    def _one(self, kind: DType) -> str:
        return self.emitter.scalar(1, kind)

    def floor_divide(self, node: UOp) -> str:
        left, right = self._broadcast(node)
        if node.dtype.is_float:
            return self.emitter.node("Floor", self.emitter.node("Div", left, right))
        rest = self.emitter.node("Mod", left, right)
        return self.emitter.node("Div", self.emitter.node("Sub", left, rest), right)

    def remainder(self, node: UOp) -> str:
        left, right = self._broadcast(node)
        if not node.dtype.is_float:
            return self.emitter.node("Mod", left, right)
        whole = self.emitter.node("Floor", self.emitter.node("Div", left, right))
        return self.emitter.node("Sub", left, self.emitter.node("Mul", whole, right))

    def shift(self, node: UOp) -> str:
        direction = "LEFT" if node.op is Op.SHL else "RIGHT"
        if node.dtype.name.startswith("int"):
            raise ArgumentError("onnx.save: shifts of signed integers are no standard operator")
        return self.emitter.node("BitShift", *self._broadcast(node), direction=direction)

    def reduce(self, node: UOp) -> str:
        product = find_product(node)
        if product is not None:
            return self._contract(node, product)
        if not node.axes:
            return self.names[node.operand]
        source, axes = self.names[node.operand], self.emitter.integers(list(node.axes))
        if node.operand.dtype is not dtypes.bool_:
            return self.emitter.node(REDUCTIONS[node.combine], source, axes, keepdims=1)
        whole = self.cast(source, dtypes.int32)
        reduced = self.emitter.node(REDUCTIONS[node.combine], whole, axes, keepdims=1)
        return self.cast(reduced, dtypes.bool_)

    def _contract(self, node: UOp, product: Any) -> str:
        text, *losses = equation(product, node.axes)
        names = []
        for operand, lost in zip(product, losses, strict=True):
            name = self.names[operand]
            if lost:
                name = self.emitter.node("Squeeze", name, self.emitter.integers(lost))
            names.append(name)
        contracted = self.emitter.node("Einsum", *names, equation=text)
        return self.emitter.node("Reshape", contracted, self.axes.shape(node.shape))

    def through(self, node: UOp) -> str:
        """A node that marks its operand; a convolution is one that says how it is made."""
        if not isinstance(node.arg, Method):
            return self.names[node.src[0]]
        method, x, filters = node.arg, *node.src[1:3]
        convolved = self.emitter.node(
            "Conv", self.names[x], self.names[filters],
            pads=[before for before, _ in method.pads] + [after for _, after in method.pads],
            strides=list(method.strides), dilations=list(method.dilations), group=method.groups,
        )  # fmt: skip
        return self.emitter.node("Reshape", convolved, self.axes.shape(node.shape))

    def gather(self, node: UOp) -> str:
        places = self._positions(node.indices)
        return self.emitter.node("GatherND", self.names[node.operand], places)

    def scatter(self, node: UOp) -> str:
        operand, value, *indices = node.src
        if node.combine not in SCATTERED:
            raise ArgumentError(f"onnx.save: elements scattered by {node.combine} are not written")
        return self.emitter.node(
            "ScatterND", self.names[operand], self._positions(tuple(indices)), self.names[value],
            reduction=SCATTERED[node.combine],
        )  # fmt: skip

    def _positions(self, indices: tuple[UOp, ...]) -> str:
        """Indices one beside the other, as a last axis."""
        last = self.emitter.integers([-1])
        parts = [self.emitter.node("Unsqueeze", self.names[each], last) for each in indices]
        return self.emitter.node("Concat", *parts, axis=-1)

    def running(self, node: UOp) -> str:
        if node.combine is not Op.ADD or len(node.src) > 1:
            raise ArgumentError("onnx.save: of running values, only sums are standard operators")
        axis = self.emitter.scalar(node.axis, dtypes.int64)
        return self.emitter.node("CumSum", self.names[node.operand], axis)

    def order(self, node: UOp) -> str:
        count = node.count if node.op is Op.ORDER else node.shape[-1]
        descending = node.arg[0] if isinstance(node.arg, tuple) else node.arg
        sorted_names = self.emitter.nodes(
            "TopK", self.names[node.operand], self.axes.length(count), outputs=2, axis=-1,
            largest=int(bool(descending)), sorted=1,
        )  # fmt: skip
        return sorted_names[1] if node.op is Op.ORDER else sorted_names[0]


_WRITERS: dict[Op, Callable[[Operations, UOp], str]] = {
    Op.CONST: Operations.constant, Op.RESHAPE: Operations.reshape, Op.EXPAND: Operations.expand,
    Op.PERMUTE: Operations.permute, Op.PAD: Operations.pad, Op.SHRINK: Operations.shrink,
    Op.FLIP: Operations.flip, Op.IOTA: Operations.iota, Op.CAST: Operations.convert,
    Op.NOT: Operations.invert, Op.TRUNC: Operations.truncate, Op.CMPNE: Operations.differ,
    Op.AND: Operations.logic, Op.OR: Operations.logic, Op.XOR: Operations.logic,
    Op.RSQRT: Operations.scaled_function, Op.EXP2: Operations.scaled_function,
    Op.EXPM1: Operations.scaled_function, Op.LOG1P: Operations.scaled_function,
    Op.LOG2: Operations.scaled_function, Op.LOG10: Operations.scaled_function,
    Op.ERFC: Operations.scaled_function, Op.FLOORDIV: Operations.floor_divide,
    Op.MOD: Operations.remainder, Op.SHL: Operations.shift, Op.SHR: Operations.shift,
    Op.REDUCE_AXES: Operations.reduce, Op.DETACH: Operations.through,
    Op.CONTIGUOUS: Operations.through, Op.GRADIENT: Operations.through,
    Op.COPY: Operations.through, Op.GATHER: Operations.gather, Op.SCATTER: Operations.scatter,
    Op.SCAN_AXIS: Operations.running, Op.ORDERED: Operations.order, Op.ORDER: Operations.order,
}  # fmt: skip
