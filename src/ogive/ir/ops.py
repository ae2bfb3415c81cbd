"""The op table: the whole language, from tensor expression to instruction.

The first thing to open in this code base. A node is an op, an element type, sources and an
argument; a line here says for one op

    NAME = "sources", "argument", STAGES, "meaning"

- *sources*, by name and in order. `gate?` may be absent, `closed...` are any number.
- *argument*: `(field: kind, ...)` is a tuple of fields, `field: kind` the field itself. Nothing:
  there is none. `kind?` may be None, `[field: kind]` left out. The kinds are in `KINDS`.
- *stages*: the dialects in which it occurs, see `STAGES`; `dialects/verify.py` checks it.

Every name is an attribute of a node: `store.value`, `counter.extent`, `counter.placement`. What is
optional and absent is None there, what is `...` a tuple. An op has no names but its own: asking a
RANGE for its `value` is an error. One name has one meaning, and for a source that is read often
one position, so that reading it costs no more than `src[0]` (see `accessors.py`).
"""

from __future__ import annotations

from enum import Enum

from ogive.named import NamedTuple

STAGES = ("tensor", "parametric", "real", "stored", "region", "loops", "placed", "lowered")
"""The stages of a graph, in order: of tensors; with the data taken out; without complex numbers;
with memory for what is scattered; of one kernel; as loops; every axis with its place; every access
with its stride."""

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
    "any": "whatever the op's owner put there",
    "int": "an integer",
    "flag": "True or False",
    "str": "a text",
    "scalar": "a Python number of the node's dtype",
    "combining": "an op of REDUCING",
    "axes": "a tuple of integers",
    "sizes": "a tuple of integers; None takes the next of the `lengths`",
    "pairs": "a tuple of pairs of integers; None takes the next of the `lengths`",
    "outputs": "a tuple of (shape, dtype)",
    "devices": "a tuple of names of devices",
    "placement": "LOOP, PARALLEL, UPCAST, LANE or THREAD",
    "stride": "how far apart neighbouring lanes lie: an integer, or IRREGULAR",
}
"""What the fields of arguments are."""


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
    UNIQUE = "", "number: int", TENSOR, "what makes two buffers different"
    BUFFER = "identity", "(device: str, size: int)", TENSOR, "memory that holds a realized value"
    PARAM = (
        "", "(slot: int, size: int, [device: str])", NOT_TENSOR,
        "the slot-th buffer of the call; which device it is on is no part of a kernel",
    )  # fmt: skip
    VARIABLE = "", "(name: str, low: int, high: int)", EVERYWHERE, "an integer known at execution"
    BIND = "variable, bound", "", TENSOR, "a variable with this run's value, a CONST"
    IOTA = "symbolic?", "stop: int?", SHAPED, "0, 1, 2, ... along one axis; one of both is there"

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
    EXPM1 = _unary("EXP less 1")
    LOG = _unary("the natural logarithm")
    LOG2 = _unary("the logarithm to base 2")
    LOG10 = _unary("the logarithm to base 10")
    LOG1P = _unary("LOG of 1 more")
    SIN = _unary("sine")
    COS = _unary("cosine")
    TAN = _unary("tangent")
    ASIN = _unary("the angle of a sine")
    ACOS = _unary("the angle of a cosine")
    ATAN = _unary("the angle of a tangent")
    SINH = _unary("hyperbolic sine")
    COSH = _unary("hyperbolic cosine")
    TANH = _unary("hyperbolic tangent")
    ASINH = _unary("the reverse of SINH")
    ACOSH = _unary("the reverse of COSH")
    ATANH = _unary("the reverse of TANH")
    ERF = _unary("the error function")
    ERFC = _unary("1 less ERF")
    REAL = _unary("the real part of a complex number")
    IMAGINARY = _unary("its imaginary part")

    # Elementwise, two sources
    ADD = _binary("x + y")
    SUB = _binary("x - y")
    MUL = _binary("x * y")
    DIV = _binary("x / y, of floats only")
    FLOORDIV = _binary("x / y rounded down; an integer divided by zero is a fault")
    MOD = _binary("the remainder, with the sign of the divisor, as Python has it")
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
    COMPLEX = _binary("a complex number of its real and its imaginary part")
    DOT = (
        "left, right", "(left_dtype: str, right_dtype: str)", FROM_STORED,
        "the sum of products of the elements that lie in two words of uint32",
    )  # fmt: skip
    THREEFRY = _binary("64 random bits, a function of a counter and a key; all are uint64")
    CMPLT = _binary("x < y")
    CMPLE = _binary("x <= y")
    CMPEQ = _binary("x == y")
    CMPNE = _binary("x != y")

    # Elementwise, three sources
    WHERE = "condition, if_true, if_false", "", EVERYWHERE, "one or the other, by the condition"

    # Values over whole axes
    REDUCE_AXES = (
        "operand", "(combine: combining, axes: axes)", SHAPED,
        "the axes are combined and stay, with length 1",
    )  # fmt: skip
    GATHER = (
        "operand, indices...", "", SHAPED,
        "the operand at these positions, an int64 per axis; outside is a fault",
    )  # fmt: skip
    SCATTER = (
        "operand, value, indices...", "combine: combining?", BEFORE_STORED,
        "the operand, with the values put or combined in at these positions",
    )  # fmt: skip
    SCAN_AXIS = (
        "operand, initial?", "(combine: combining, axis: int)", SHAPED,
        "running totals along an axis, from `initial` on",
    )  # fmt: skip
    ORDERED = (
        "operand", "descending: flag", BEFORE_STORED,
        "the elements in order along the last axis, of equal ones the first in front; NaN is the "
        "greatest",
    )  # fmt: skip
    ORDER = (
        "operand", "(descending: flag, count: int)", BEFORE_STORED,
        "the positions, as int64, of the first elements that ORDERED gives",
    )  # fmt: skip
    SORT = "operand", "", SHAPED, "integers in ascending order along the last axis"
    ARRANGE = (
        "operand, starts, groups", "", SHAPED,
        "each element at the next place of its group, in order",
    )  # fmt: skip
    CONTIGUOUS = "operand", "hints: any?", GRAPH, "must be in memory, row-major"
    DETACH = "operand", "", TENSOR, "no gradient flows through"
    GRADIENT = (
        "operand, inputs...", "rule: any?", TENSOR,
        "the operand; the rule gives the gradients of the inputs",
    )  # fmt: skip
    COPY = "operand", "device: str", GRAPH, "the same values in the memory of that device"
    SHARD = (
        "operand", "(devices: devices, mesh: axes, split: axes)", OUTLINED,
        "the same values over several devices, laid out so (see `ir/layouts.py`)",
    )  # fmt: skip
    MULTI = (
        "parts...", "(devices: devices, mesh: axes, split: axes)", OUTLINED,
        "the value whose parts these are, a part on each device",
    )  # fmt: skip
    MSELECT = (
        "operand", "(devices: devices, mesh: axes, split: axes, number: int)", OUTLINED,
        "the part on the number-th device of a value that is laid out so",
    )  # fmt: skip
    CUSTOM = (
        "function, inputs...", "(name: str, outputs: outputs, output: int)", GRAPH,
        "the output-th result of a Python function, which memory stands for",
    )  # fmt: skip
    CALL = (
        "operands...",
        "(callee: str, arguments: any, outputs: outputs, output: int, may_fault: int)",
        OUTLINED,
        "the output-th result of a function of the library, which stands for what it is made of",
    )  # fmt: skip
    STAGE_AXIS = (
        "operand", "(space: str, axis: int)", REGION,
        "kept in scratch memory along an axis, instead of being computed at each use",
    )  # fmt: skip

    # Memory and order
    ASSIGN = (
        "target, value, indices...", "combine: combining?", SHAPED,
        "the value is put, or combined, into the memory that the target is a view of",
    )  # fmt: skip
    AFTER = "operand, effects...", "", GRAPH, "the operand as it is once the effects have happened"
    SINK = (
        "roots...", "devices: devices?", EVERYWHERE,
        "one graph to compile together, and where each root is to be, if not all on one device",
    )  # fmt: skip

    # Loops
    RANGE = (
        "extent", "(number: int, placement: placement?)", LOOPS,
        "a counter from 0 to the extent",
    )  # fmt: skip
    REDUCE = (
        "operand, closed...", "combine: combining", LOOPS,
        "the operand combined over the loops that it closes",
    )  # fmt: skip
    SCAN = (
        "operand, start, loop, further...", "combine: combining", LOOPS,
        "a running total, passed on from each iteration of a loop in order to the next",
    )  # fmt: skip
    INDEX = (
        "base, offset, gate?", "", LOOPS,
        "a place in memory, of a PARAM or a STAGE, valid where the gate holds",
    )  # fmt: skip
    LOAD = (
        "place, lanes?", "stride: stride?", LOOPS,
        "the content of an INDEX; zero where its gate does not hold",
    )  # fmt: skip
    STORE = (
        "place, value, closed...", "(stride: stride?, combine: combining?)", LOOPS,
        "the value is put, or combined, into an INDEX, for all loops that it closes",
    )  # fmt: skip
    STAGE = (
        "operand, offset, closed...",
        "(space: str, length: int, combine: combining?, sorted_count: int?, count: int?, "
        "stride: stride?)",
        LOOPS,
        "a row of scratch memory, whole once the loops that it closes are over; see `staged_row`",
    )  # fmt: skip
    TALLY = "place, counter", "", LOOPS, "the content of an INDEX, one more from then on"
    CHECK = (
        "operand, holds, gate?", "(site: int, fallback: int)", LOOPS,
        "the operand; a fault, and the fallback, where it does not hold",
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
"""What says how a value is laid out over several devices."""

TERNARY = frozenset({Op.WHERE})
ELEMENTWISE = UNARY | BINARY | TERNARY

COMMUTATIVE = frozenset({
    Op.ADD, Op.MUL, Op.MAXIMUM, Op.MINIMUM, Op.AND, Op.OR, Op.XOR, Op.CMPEQ, Op.CMPNE,
})  # fmt: skip
REDUCING = frozenset({Op.ADD, Op.MUL, Op.MAXIMUM, Op.MINIMUM, Op.AND, Op.OR})

FAULTING = frozenset({Op.FLOORDIV, Op.MOD, Op.GATHER, Op.SCATTER})
"""The operations of a tensor graph at which a run may stop."""

SCRATCH = "scratch"
"""The space of a `STAGE` in memory that a thread has for itself, written anew in each tile."""

LOOP, PARALLEL, UPCAST, LANE, THREAD = "loop", "parallel", "upcast", "lane", "thread"
"""The placements of a `RANGE`: run through by a loop, shared out to threads or blocks of them, held
in registers side by side, in the lanes of one register, or spread over the threads of a block."""

IRREGULAR = "gather"
"""The stride of a `LOAD` or `STORE` whose lanes lie anywhere."""


def staged_row(
    length: int,
    combine: Op | None = None,
    sorted_count: int | None = None,
    count: int | None = None,
    stride: int | str | None = None,
) -> tuple[str, int, Op | None, int | None, int | None, int | str | None]:
    """The argument of a `STAGE`: a row of that many elements.

    What comes to a place again is combined with what is there. `sorted_count` elements are put in
    order once the row is whole. What the tile needs in all, `count` elements, and how far apart
    the lanes lie are known when accesses are lowered.
    """
    return SCRATCH, length, combine, sorted_count, count, stride
