"""Complex numbers become pairs of floats.

    before   SINK(MUL(a, b))                    a, b: RESHAPE(PARAM n, complex64)
    after    SINK(WHERE(k = 0, x·u - y·v, x·v + y·u))
             x = SHRINK(RESHAPE(PARAM 2n, float32), ..., (0, 1)), y likewise with (1, 2)

A complex value has two forms. One is its parts, two nodes of its shape. The other is one node with
a last axis of length 2, as the parts alternate in memory: a value that must be memory (a parameter,
a result, a copy, the target of a store) has this form. Movement works on both.
"""

from __future__ import annotations

from collections.abc import Callable

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import cast, expand, move, reshape
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.ir.shape import Dim, Shape, common_shape
from ogive.named import NamedTuple


class Parts(NamedTuple):
    """The real and the imaginary part of a complex value, both of its shape."""

    real: UOp
    imaginary: UOp


def split_complex(sink: UOp) -> UOp:
    """The graph without complex numbers; the same graph if it has none."""
    order = sink.walk()
    if not any(node.dtype.is_complex for node in order):
        return sink
    splitting = _Splitting()
    for node in order:
        splitting.add(node)
    return splitting.real[sink]


class _Splitting:
    """The new forms of nodes: real nodes in `real`, complex nodes in `parts` and `memory`."""

    def __init__(self) -> None:
        self.real: dict[UOp, UOp] = {}
        self.parts: dict[UOp, Parts] = {}
        self.memory: dict[UOp, UOp] = {}

    def add(self, node: UOp) -> None:
        """Add the new form of a node whose sources have theirs."""
        if not node.dtype.is_complex:
            if any(source.dtype.is_complex for source in node.src):
                self.real[node] = _TO_REAL[node.op](self, node)
            else:
                self.real[node] = node.with_sources(tuple([self.real[s] for s in node.src]))
            return
        whole = self._in_memory(node)
        if whole is not None:
            self.memory[node] = whole
            self.parts[node] = Parts(_slice(whole, 0), _slice(whole, 1))
        else:
            self.parts[node] = self._split(node)

    def whole(self, node: UOp, shape: Shape | None = None) -> UOp:
        """A complex value as one node with a last axis for the parts; a scalar gets `shape`."""
        if shape is None or shape == node.shape:
            return self.memory.get(node) or _interleave(self.parts[node], node.shape)
        real, imaginary = self.parts[node]
        return _interleave(Parts(_fit(real, shape), _fit(imaginary, shape)), shape)

    def _in_memory(self, node: UOp) -> UOp | None:
        """The form with a last axis for the parts, if the node is memory or a view of memory."""
        op, part = node.op, node.dtype.part
        if op is Op.PARAM:
            slot, count, *device = node.arg
            flat = UOp(Op.PARAM, part, (), (slot, 2 * count, *device), node.tag)
            return reshape(flat, (count, 2))
        if op in (Op.CONTIGUOUS, Op.COPY):
            return UOp(op, part, (self.whole(node.operand),), node.arg, node.tag)
        if op is Op.AFTER:
            effects = [self.real[effect] for effect in node.effects]
            return UOp(op, part, (self.whole(node.operand), *effects), node.arg, node.tag)
        if op is Op.SCATTER:
            return UOp(op, part, self.stored(node), node.arg, node.tag)
        if op in MOVEMENT and op is not Op.PAD and node.operand in self.memory:
            lengths = tuple([self.real[length] for length in node.src[1:]])
            rank = len(node.operand.shape)
            argument = (*node.arg, *_BEHIND[op](rank))
            return UOp(op, part, (self.memory[node.operand], *lengths), argument, node.tag)
        return None

    def stored(self, node: UOp) -> tuple[UOp, ...]:
        """The sources of a store or scatter, with one more index for the axis of the parts."""
        target, value, *indices = node.src
        if not indices:
            return self.whole(target), self.whole(value, target.shape)
        shape = common_shape((value, *indices))
        wide = [_widen(self.real[index], shape) for index in indices]
        return self.whole(target), self.whole(value, shape), *wide, _which_part(shape)

    def _split(self, node: UOp) -> Parts:
        op, part = node.op, node.dtype.part
        if op is Op.CONST:
            return Parts(UOp.const(part, node.arg.real), UOp.const(part, node.arg.imag))
        if op is Op.CAST:
            return self._cast(node, part)
        if op is Op.COMPLEX:
            real, imaginary = [_fit(self.real[source], node.shape) for source in node.src]
            return Parts(real, imaginary)
        if op is Op.PAD:
            return self._padded(node)
        if op is Op.REDUCE_AXES and node.operand.op is Op.MUL:
            return self._sum_of_products(node)
        if op in _ARITHMETIC:
            left, right = [self.parts[source] for source in node.src]
            return Parts(*[_fit(each, node.shape) for each in _ARITHMETIC[op](left, right)])
        # All other ops apply to each part separately.
        parts = []
        for which in (0, 1):
            sources = [
                self.parts[source][which] if source.dtype.is_complex else self.real[source]
                for source in node.src
            ]
            parts.append(UOp(op, part, tuple(sources), node.arg, node.tag))
        return Parts(*parts)

    def _cast(self, node: UOp, part: DType) -> Parts:
        (source,) = node.src
        if source.dtype.is_complex:
            real, imaginary = self.parts[source]
            return Parts(cast(real, part), cast(imaginary, part))
        zero = UOp.const(part, 0.0)
        return Parts(cast(self.real[source], part), _fit(zero, node.shape))

    def _padded(self, node: UOp) -> Parts:
        source, pads, fill = node.operand, node.widths, node.fill
        lengths = tuple([self.real[length] for length in node.lengths])
        parts = [
            UOp(Op.PAD, each.dtype, (each, *lengths), (pads, value), node.tag)
            for each, value in zip(self.parts[source], (fill.real, fill.imag), strict=True)
        ]
        return Parts(*parts)

    def _sum_of_products(self, node: UOp) -> Parts:
        """Four sums of real products, in the form in which kernels for products expect them."""
        product = node.operand

        def total(x: UOp, y: UOp) -> UOp:
            products = _fit(_binary(Op.MUL, x, y), product.shape)
            return UOp(Op.REDUCE_AXES, products.dtype, (products,), node.arg, node.tag)

        left, right = [self.parts[source] for source in product.src]
        return _multiply(left, right, total)


# Real nodes from complex ones


def _sink(splitting: _Splitting, node: UOp) -> UOp:
    roots = [
        splitting.whole(root) if root.dtype.is_complex else splitting.real[root]
        for root in node.src
    ]
    return node.with_sources(tuple(roots))


def _store(splitting: _Splitting, node: UOp) -> UOp:
    return UOp(Op.ASSIGN, node.dtype, splitting.stored(node), node.arg, node.tag)


def _real(splitting: _Splitting, node: UOp) -> UOp:
    return splitting.parts[node.operand].real


def _imaginary(splitting: _Splitting, node: UOp) -> UOp:
    return splitting.parts[node.operand].imaginary


def _compare(splitting: _Splitting, node: UOp) -> UOp:
    left, right = [splitting.parts[source] for source in node.src]
    both = [
        UOp(node.op, dtypes.bool_, pair) for pair in zip(left, right, strict=True)
    ]
    return _binary(Op.AND if node.op is Op.CMPEQ else Op.OR, *both)


def _cast_to_real(splitting: _Splitting, node: UOp) -> UOp:
    real, imaginary = splitting.parts[node.operand]
    if not node.dtype.is_bool:
        return cast(real, node.dtype)
    zero = UOp.const(real.dtype, 0.0)
    return _binary(Op.OR, *[UOp(Op.CMPNE, dtypes.bool_, (x, zero)) for x in (real, imaginary)])


_TO_REAL: dict[Op, Callable[[_Splitting, UOp], UOp]] = {
    Op.SINK: _sink,
    Op.ASSIGN: _store,
    Op.REAL: _real,
    Op.IMAGINARY: _imaginary,
    Op.CMPEQ: _compare,
    Op.CMPNE: _compare,
    Op.CAST: _cast_to_real,
}


# Arithmetic


def _multiply(left: Parts, right: Parts, times: Callable[[UOp, UOp], UOp]) -> Parts:
    """(x + iy)(u + iv). A factor without imaginary part only scales the other one."""
    (x, y), (u, v) = left, right
    if _is_zero(v):
        return Parts(times(x, u), times(y, u))
    if _is_zero(y):
        return Parts(times(x, u), times(x, v))
    real = _binary(Op.SUB, times(x, u), times(y, v))
    return Parts(real, _binary(Op.ADD, times(x, v), times(y, u)))


def _product(left: Parts, right: Parts) -> Parts:
    return _multiply(left, right, lambda x, y: _binary(Op.MUL, x, y))


def _quotient(left: Parts, right: Parts) -> Parts:
    """(x + iy) / (u + iv), scaled by the greater of u and v so that no square overflows.

        r = v / u, d = u + v·r:   ((x + y·r) / d, (y - x·r) / d)      where |u| ≥ |v|
        r = u / v, d = v + u·r:   ((y + x·r) / d, (y·r - x) / d)      elsewhere
    """
    (x, y), (u, v) = left, right
    if _is_zero(v):
        return Parts(_binary(Op.DIV, x, u), _binary(Op.DIV, y, u))
    magnitudes = [UOp(Op.ABS, u.dtype, (each,)) for each in (v, u)]
    wide = UOp(Op.CMPLE, dtypes.bool_, tuple(magnitudes))

    def choose(chosen: UOp, other: UOp) -> UOp:
        return UOp(Op.WHERE, chosen.dtype, (wide, chosen, other))

    greater, lesser = choose(u, v), choose(v, u)
    zero = UOp.const(u.dtype, 0.0)
    is_zero = UOp(Op.CMPEQ, dtypes.bool_, (greater, zero))
    ratio = UOp(Op.WHERE, u.dtype, (is_zero, zero, _binary(Op.DIV, lesser, greater)))
    divisor = _binary(Op.ADD, greater, _binary(Op.MUL, lesser, ratio))
    real = _binary(Op.ADD, choose(x, y), _binary(Op.MUL, choose(y, x), ratio))
    imaginary = [
        _binary(Op.SUB, y, _binary(Op.MUL, x, ratio)),
        _binary(Op.SUB, _binary(Op.MUL, y, ratio), x),
    ]
    return Parts(_binary(Op.DIV, real, divisor), _binary(Op.DIV, choose(*imaginary), divisor))


_ARITHMETIC = {Op.MUL: _product, Op.DIV: _quotient}


# Nodes


_BEHIND: dict[Op, Callable[[int], tuple[object, ...]]] = {
    Op.RESHAPE: lambda rank: (2,),
    Op.EXPAND: lambda rank: (2,),
    Op.PERMUTE: lambda rank: (rank,),
    Op.SHRINK: lambda rank: ((0, 2),),
    Op.FLIP: lambda rank: (),
}
"""The entry in a movement's argument for the axis of the parts, which follows `rank` others."""


def _binary(op: Op, left: UOp, right: UOp) -> UOp:
    return UOp(op, left.dtype, (left, right))


def _fit(node: UOp, shape: Shape) -> UOp:
    """A node of `shape`: the node itself, or a scalar expanded to it."""
    if node.shape == shape:
        return node
    return expand(reshape(node, (1,) * len(shape)), shape)


def _is_zero(node: UOp) -> bool:
    while node.op in (Op.EXPAND, Op.RESHAPE):
        node = node.operand
    return node.op is Op.CONST and node.arg == 0


def _slice(whole: UOp, which: int) -> UOp:
    """One of the parts along the last axis."""
    *shape, _ = whole.shape
    pairs: list[tuple[Dim, Dim]] = [(0, size) for size in shape]
    cut = move(Op.SHRINK, whole, (*pairs, (which, which + 1)))
    return reshape(cut, tuple(shape))


def _widen(node: UOp, shape: Shape) -> UOp:
    """A node of `shape`, or a scalar, expanded along a last axis for the parts."""
    line = reshape(_fit(node, shape), (*shape, 1))
    return expand(line, (*shape, 2))


def _which_part(shape: Shape) -> UOp:
    """0 for the real part and 1 for the imaginary one, along a last axis after `shape`."""
    line = reshape(UOp(Op.IOTA, dtypes.int64, (), 2), (*[1] * len(shape), 2))
    return expand(line, (*shape, 2))


def _interleave(parts: Parts, shape: Shape) -> UOp:
    """The parts as one node, along a last axis."""
    first = UOp(Op.CMPEQ, dtypes.bool_, (_which_part(shape), UOp.const(dtypes.int64, 0)))
    real, imaginary = [_widen(part, shape) for part in parts]
    return UOp(Op.WHERE, real.dtype, (first, real, imaginary))
