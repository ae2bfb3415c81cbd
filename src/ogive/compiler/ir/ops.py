"""The op table: the whole language, from tensor expression to instruction.

Open this module first. A node is an op, an element type, sources and an argument. Each line of the
table describes one op:

    NAME = "sources", "argument", STAGES, "meaning"

- *sources*: their names, in order. `gate?` is optional; `closed...` stands for any number of them.
- *argument*: `(field: kind, ...)` is a tuple of fields, `field: kind` is a single value, and an
  empty string means that there is no argument. A field of `kind?` may be None; `[field: kind]` may
  be left out of the tuple. `KINDS` lists the kinds.
- *stages*: the dialects in which the op may occur (see `STAGES`); `dialects/verify.py` checks them.

Every name is an attribute of the node: `store.value`, `counter.extent`, `counter.placement`. An
optional source or field that is absent reads as None, and a `...` source reads as a tuple. An op
has only its own names: asking a RANGE for its `value` is an error. A name means the same in every
op. A source that is read often also has the same position in every op, so that reading it costs no
more than `src[0]` (see `accessors.py`).
"""

from __future__ import annotations

from enum import Enum

from ogive.named import NamedTuple

STAGES = ("tensor", "parametric", "real", "stored", "region", "loops", "placed", "lowered")
"""The stages of a graph, in order. Each is also the name of a dialect.

    tensor       what the user's calls built
    parametric   buffers are numbered slots, so that the graph holds no data
    real         complex numbers are pairs of floats
    stored       scatters are stores into memory
    region       the graph of one kernel
    loops        shapes have become loops and index arithmetic
    placed       every loop has its placement
    lowered      every vector access has its stride
"""

_Stages = tuple[str, ...]
EVERYWHERE: _Stages = STAGES
TENSOR: _Stages = STAGES[:1]
OUTLINED: _Stages = STAGES[:2]
BEFORE_STORED: _Stages = STAGES[:3]
GRAPH: _Stages = STAGES[:4]
SHAPED: _Stages = STAGES[:5]
REGION: _Stages = STAGES[4:5]
NOT_TENSOR: _Stages = STAGES[1:]
FROM_STORED: _Stages = STAGES[3:]
LOOPS: _Stages = STAGES[5:]

KINDS = {
    "any": "any value; only the module that makes such nodes knows its type",
    "int": "an integer",
    "flag": "True or False",
    "str": "a string",
    "scalar": "a Python number of the node's dtype",
    "combining": "an op of REDUCING",
    "axes": "a tuple of integers",
    "sizes": "a tuple of integers; None takes the next of the `lengths`",
    "pairs": "a tuple of pairs of integers; None takes the next of the `lengths`",
    "outputs": "a tuple of (shape, dtype)",
    "devices": "a tuple of names of devices",
    "placement": "LOOP, PARALLEL, UPCAST, LANE or THREAD",
    "stride": "the distance of neighbouring lanes in elements, or IRREGULAR",
}
"""The kinds of fields in arguments."""


class Source(NamedTuple):
    """A source of an op: `x`, `x?` or `x...`."""

    name: str
    is_optional: bool
    is_rest: bool


class Field(NamedTuple):
    """A field of an op's argument."""

    name: str
    kind: str
    is_optional: bool
    may_be_left_out: bool


def _parse_source(text: str) -> Source:
    return Source(text.rstrip("?."), text.endswith("?"), text.endswith("..."))


def _parse_field(text: str) -> Field:
    name, kind = text.strip("[]").split(": ")
    return Field(name, kind.rstrip("?"), kind.endswith("?"), text.startswith("["))


_Line = tuple[str, str, _Stages, str]


def _unary(meaning: str, stages: _Stages = EVERYWHERE) -> _Line:
    return "operand", "", stages, meaning


def _binary(meaning: str, stages: _Stages = EVERYWHERE) -> _Line:
    return "left, right", "", stages, meaning


class Op(Enum):
    """An operation: its `sources`, the `fields` of its argument, its `stages` and its `meaning`."""

    # Leaves
    CONST = "", "literal: scalar", EVERYWHERE, "a number: a scalar, of any shape after EXPAND"
    UNIQUE = "", "number: int", TENSOR, "the identity of a buffer: no two are equal"
    BUFFER = "identity", "(device: str, size: int)", TENSOR, "memory that holds a realized value"
    PARAM = (
        "", "(slot: int, size: int, [device: str])", NOT_TENSOR,
        "the slot-th buffer of the call; inside a kernel it names no device",
    )  # fmt: skip
    VARIABLE = "", "(name: str, low: int, high: int)", EVERYWHERE, "an integer known at execution"
    BIND = "variable, bound", "", TENSOR, "a variable with this run's value, a CONST"
    IOTA = "symbolic?", "stop: int?", SHAPED, "0, 1, 2, ... up to `symbolic` or to `stop`"

    # Movement: where elements are read from
    RESHAPE = "operand, lengths...", "sizes: sizes", SHAPED, "the same elements in another shape"
    PERMUTE = "operand", "order: axes", SHAPED, "the axes in another order"
    EXPAND = "operand, lengths...", "sizes: sizes", SHAPED, "axes of length 1 are repeated"
    PAD = "operand, lengths...", "(widths: pairs, fill: scalar)", SHAPED, "`fill` around, per axis"
    SHRINK = "operand, lengths...", "spans: pairs", SHAPED, "from begin to end, per axis"
    FLIP = "operand", "axes: axes", SHAPED, "these axes run backwards"

    # Elementwise, one source
    CAST = _unary("converted to the node's dtype")
    BITCAST = _unary("the same bits read as the node's dtype, of the same size")
    NEG = _unary("-x")
    NOT = _unary("bitwise complement; logical for bool")
    ABS = _unary("|x|")
    FLOOR = _unary("rounded down")
    CEIL = _unary("rounded up")
    ROUND = _unary("rounded, half to even")
    TRUNC = _unary("rounded toward zero")
    RECIPROCAL = _unary("1 / x")
    SQRT = _unary("the square root")
    RSQRT = _unary("1 / the square root")
    EXP = _unary("e to the power of x")
    EXP2 = _unary("2 to the power of x")
    EXPM1 = _unary("e to the power of x, minus 1")
    LOG = _unary("the natural logarithm")
    LOG2 = _unary("the logarithm to base 2")
    LOG10 = _unary("the logarithm to base 10")
    LOG1P = _unary("the natural logarithm of 1 + x")
    SIN = _unary("sine")
    COS = _unary("cosine")
    TAN = _unary("tangent")
    ASIN = _unary("the inverse sine")
    ACOS = _unary("the inverse cosine")
    ATAN = _unary("the inverse tangent")
    SINH = _unary("hyperbolic sine")
    COSH = _unary("hyperbolic cosine")
    TANH = _unary("hyperbolic tangent")
    ASINH = _unary("the inverse hyperbolic sine")
    ACOSH = _unary("the inverse hyperbolic cosine")
    ATANH = _unary("the inverse hyperbolic tangent")
    ERF = _unary("the error function")
    ERFC = _unary("1 - ERF")
    REAL = _unary("the real part of a complex number")
    IMAGINARY = _unary("its imaginary part")

    # Elementwise, two sources
    ADD = _binary("x + y")
    SUB = _binary("x - y")
    MUL = _binary("x * y")
    DIV = _binary("x / y, of floats only")
    FLOORDIV = _binary("x / y rounded down; an integer divided by zero is a fault")
    MOD = _binary("the remainder, with the sign of the divisor as in Python")
    MAXIMUM = _binary("the greater one; NaN wins")
    MINIMUM = _binary("the lesser one; NaN wins")
    POW = _binary("x to the power of y")
    ATAN2 = _binary("the angle of the point (y, x)")
    COPYSIGN = _binary("x with the sign of y")
    AND = _binary("bitwise and; logical for bool")
    OR = _binary("bitwise or; logical for bool")
    XOR = _binary("bitwise exclusive or; logical for bool")
    SHL = _binary("x shifted left by y bits")
    SHR = _binary("x shifted right by y bits")
    COMPLEX = _binary("the complex number with this real and this imaginary part")
    DOT = (
        "left, right", "(left_dtype: str, right_dtype: str)", FROM_STORED,
        "the dot product of the narrow elements packed in two words of uint32",
    )  # fmt: skip
    THREEFRY = _binary("64 random bits from a counter and a key; all three are uint64")
    CMPLT = _binary("x < y")
    CMPLE = _binary("x <= y")
    CMPEQ = _binary("x == y")
    CMPNE = _binary("x != y")

    # Elementwise, three sources
    WHERE = "condition, if_true, if_false", "", EVERYWHERE, "`if_true` or `if_false`, per element"

    # Values over whole axes
    REDUCE_AXES = (
        "operand", "(combine: combining, axes: axes)", SHAPED,
        "the reduction over these axes, which stay with length 1",
    )  # fmt: skip
    GATHER = (
        "operand, indices...", "", SHAPED,
        "the elements at these positions, an int64 per axis; a position outside is a fault",
    )  # fmt: skip
    SCATTER = (
        "operand, value, indices...", "combine: combining?", BEFORE_STORED,
        "the operand with the values written, or combined, into these positions",
    )  # fmt: skip
    SCAN_AXIS = (
        "operand, initial?", "(combine: combining, axis: int)", SHAPED,
        "the running totals along an axis, starting from `initial`",
    )  # fmt: skip
    ORDERED = (
        "operand", "descending: flag", BEFORE_STORED,
        "the elements sorted along the last axis, stably; NaN is the greatest",
    )  # fmt: skip
    ORDER = (
        "operand", "(descending: flag, count: int)", BEFORE_STORED,
        "the positions, as int64, of the first `count` elements that ORDERED gives",
    )  # fmt: skip
    SORT = "operand", "", SHAPED, "integers in ascending order along the last axis"
    ARRANGE = (
        "operand, starts, groups", "", SHAPED,
        "each element moved to the next free place of its group, in order",
    )  # fmt: skip
    CONTIGUOUS = "operand", "hints: any?", GRAPH, "the operand, stored in memory in row-major order"
    DETACH = "operand", "", TENSOR, "the operand; no gradient flows through it"
    GRADIENT = (
        "operand, inputs...", "rule: any?", TENSOR,
        "the operand; the rule gives the gradients of the inputs",
    )  # fmt: skip
    COPY = "operand", "device: str", GRAPH, "the operand in the memory of that device"
    SHARD = (
        "operand", "(devices: devices, mesh: axes, split: axes)", OUTLINED,
        "the operand laid out over several devices (see `ir/layouts.py`)",
    )  # fmt: skip
    MULTI = (
        "parts...", "(devices: devices, mesh: axes, split: axes)", OUTLINED,
        "the value made of these parts, one on each device",
    )  # fmt: skip
    MSELECT = (
        "operand", "(devices: devices, mesh: axes, split: axes, number: int)", OUTLINED,
        "the part of a value in this layout that is on the number-th device",
    )  # fmt: skip
    CUSTOM = (
        "function, inputs...", "(name: str, outputs: outputs, output: int)", GRAPH,
        "the output-th result of a Python function, for which a buffer stands",
    )  # fmt: skip
    CALL = (
        "operands...",
        "(callee: str, arguments: any, outputs: outputs, output: int, may_fault: int)",
        OUTLINED,
        "the output-th result of a library function, kept as one node until it is expanded",
    )  # fmt: skip
    STAGE_AXIS = (
        "operand", "(space: str, axis: int)", REGION,
        "the operand, kept in scratch memory along an axis instead of computed at each use",
    )  # fmt: skip

    # Memory and order
    ASSIGN = (
        "target, value, indices...", "combine: combining?", SHAPED,
        "the value written, or combined, into the memory that the target is a view of",
    )  # fmt: skip
    AFTER = "operand, effects...", "", GRAPH, "the operand once the effects have happened"
    SINK = (
        "roots...", "devices: devices?", EVERYWHERE,
        "one graph to compile; `devices` says where each root goes, if not all on one device",
    )  # fmt: skip

    # Loops
    RANGE = (
        "extent", "(number: int, placement: placement?)", LOOPS,
        "a loop counter from 0 up to, not including, the extent",
    )  # fmt: skip
    REDUCE = (
        "operand, closed...", "combine: combining", LOOPS,
        "the reduction of the operand over the loops that it closes",
    )  # fmt: skip
    SCAN = (
        "operand, start, loop, further...", "combine: combining", LOOPS,
        "a running total, carried from each iteration of an ordered loop to the next",
    )  # fmt: skip
    INDEX = (
        "base, offset, gate?", "", LOOPS,
        "a place in the memory of a PARAM or a STAGE, valid where the gate holds",
    )  # fmt: skip
    LOAD = (
        "place, lanes?", "stride: stride?", LOOPS,
        "the element at an INDEX; zero where its gate does not hold",
    )  # fmt: skip
    STORE = (
        "place, value, closed...", "(stride: stride?, combine: combining?)", LOOPS,
        "the value written, or combined, into an INDEX, over all loops that it closes",
    )  # fmt: skip
    STAGE = (
        "operand, offset, closed...",
        "(space: str, length: int, combine: combining?, sorted_count: int?, count: int?, "
        "stride: stride?)",
        LOOPS,
        "a row of scratch memory, complete once the loops that it closes end; see `staged_row`",
    )  # fmt: skip
    TALLY = "place, counter", "", LOOPS, "the element at an INDEX, which is then incremented"
    CHECK = (
        "operand, holds, gate?", "(site: int, fallback: int)", LOOPS,
        "the operand where `holds` is true; elsewhere a fault, and the fallback",
    )  # fmt: skip

    sources: tuple[Source, ...]
    fields: tuple[Field, ...]
    is_tuple: bool
    stages: _Stages
    meaning: str

    def __new__(cls, sources: str, argument: str, stages: _Stages, meaning: str) -> Op:
        member = object.__new__(cls)
        member._value_ = len(cls.__members__) + 1
        member.sources = tuple([_parse_source(text) for text in sources.split(", ") if text])
        member.is_tuple = argument.startswith("(")
        texts = argument.strip("()").split(", ")
        member.fields = tuple([_parse_field(text) for text in texts if text])
        member.stages = stages
        member.meaning = meaning
        return member

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return self.name


MOVEMENT = frozenset({Op.RESHAPE, Op.PERMUTE, Op.EXPAND, Op.PAD, Op.SHRINK, Op.FLIP})

TRANSCENDENTAL = frozenset({
    Op.EXP, Op.EXP2, Op.EXPM1, Op.LOG, Op.LOG2, Op.LOG10, Op.LOG1P, Op.SIN, Op.COS, Op.TAN,
    Op.ASIN, Op.ACOS, Op.ATAN, Op.SINH, Op.COSH, Op.TANH, Op.ASINH, Op.ACOSH, Op.ATANH, Op.ERF,
    Op.ERFC, Op.POW, Op.ATAN2, Op.RSQRT,
})  # fmt: skip

COMPARISON = frozenset({Op.CMPLT, Op.CMPLE, Op.CMPEQ, Op.CMPNE})

UNARY = frozenset({
    Op.CAST, Op.BITCAST, Op.NEG, Op.NOT, Op.ABS, Op.FLOOR, Op.CEIL, Op.ROUND, Op.TRUNC,
    Op.RECIPROCAL, Op.SQRT, Op.REAL, Op.IMAGINARY,
}) | (TRANSCENDENTAL - {Op.POW, Op.ATAN2})  # fmt: skip

BINARY = frozenset({
    Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.FLOORDIV, Op.MOD, Op.MAXIMUM, Op.MINIMUM, Op.POW, Op.ATAN2,
    Op.COPYSIGN, Op.COMPLEX, Op.AND, Op.OR, Op.XOR, Op.SHL, Op.SHR, Op.DOT,
    Op.THREEFRY,
}) | COMPARISON  # fmt: skip

SPREAD = frozenset({Op.SHARD, Op.MULTI, Op.MSELECT})
"""The ops whose argument is a layout over several devices."""

TERNARY = frozenset({Op.WHERE})
ELEMENTWISE = UNARY | BINARY | TERNARY

COMMUTATIVE = frozenset({
    Op.ADD, Op.MUL, Op.MAXIMUM, Op.MINIMUM, Op.AND, Op.OR, Op.XOR, Op.CMPEQ, Op.CMPNE,
})  # fmt: skip
REDUCING = frozenset({Op.ADD, Op.MUL, Op.MAXIMUM, Op.MINIMUM, Op.AND, Op.OR})

FAULTING = frozenset({Op.FLOORDIV, Op.MOD, Op.GATHER, Op.SCATTER})
"""The ops of a tensor graph that may fault, and so stop a run."""

SCRATCH = "scratch"
"""The space of a `STAGE`: memory private to a thread, written anew in each tile."""

LOOP, PARALLEL, UPCAST, LANE, THREAD = "loop", "parallel", "upcast", "lane", "thread"
"""The placements of a `RANGE`: a loop; divided among threads, or among blocks of threads; unrolled
into separate registers; the lanes of one vector register; the threads of a block."""

IRREGULAR = "gather"
"""The stride of a `LOAD` or `STORE` whose lanes are at unrelated addresses."""


def staged_row(
    length: int,
    combine: Op | None = None,
    sorted_count: int | None = None,
    count: int | None = None,
    stride: int | str | None = None,
) -> tuple[str, int, Op | None, int | None, int | None, int | str | None]:
    """The argument of a `STAGE`: a row of `length` elements.

    With `combine`, a value written to a place is combined with the element already there. With
    `sorted_count`, that many elements are sorted once the row is complete. Lowering fills in
    `count`, the elements that the whole tile needs, and `stride`, the distance of its lanes.
    """
    return SCRATCH, length, combine, sorted_count, count, stride
