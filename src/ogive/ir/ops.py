"""The op table: every operation a graph may contain, from tensor expression to instruction.

The first thing to open in this code base. Each stage of the compiler uses a part of it; which part
is said by its dialect in `verify.py`.
"""

from __future__ import annotations

from enum import Enum, auto


class Op(Enum):
    """An operation. Comments give `(sources) argument`."""

    # Leaves
    CONST = auto()  # () a Python number; a scalar of any shape after EXPAND
    UNIQUE = auto()  # () an integer: what makes two buffers different
    BUFFER = auto()  # (UNIQUE) (device, element count): memory that holds a realized value
    PARAM = auto()  # () (slot, element count): "the slot-th buffer of the call"
    VARIABLE = auto()  # () (name, low, high): an integer known at execution
    BIND = auto()  # (VARIABLE, CONST): a variable with this run's value
    IOTA = auto()  # () length: 0, 1, 2, ... along one axis

    # Movement: where elements are read from (an argument entry None takes the next source)
    RESHAPE = auto()  # (x, ...) shape
    PERMUTE = auto()  # (x) order of the axes
    EXPAND = auto()  # (x, ...) shape: axes of length 1 are repeated
    PAD = auto()  # (x, ...) ((before, after) per axis, fill value)
    SHRINK = auto()  # (x, ...) (begin, end) per axis
    FLIP = auto()  # (x) the axes that run backwards

    # Elementwise, one source
    CAST = auto()  # (x): converted to the node's dtype
    BITCAST = auto()  # (x): the same bits read as the node's dtype, of the same size
    NEG = auto()
    NOT = auto()  # bitwise complement; logical for bool
    ABS = auto()
    FLOOR = auto()
    CEIL = auto()
    ROUND = auto()  # half to even
    TRUNC = auto()
    RECIPROCAL = auto()
    SQRT = auto()
    RSQRT = auto()
    EXP = auto()
    EXP2 = auto()
    EXPM1 = auto()
    LOG = auto()
    LOG2 = auto()
    LOG10 = auto()
    LOG1P = auto()
    SIN = auto()
    COS = auto()
    TAN = auto()
    ASIN = auto()
    ACOS = auto()
    ATAN = auto()
    SINH = auto()
    COSH = auto()
    TANH = auto()
    ASINH = auto()
    ACOSH = auto()
    ATANH = auto()
    ERF = auto()
    ERFC = auto()
    REAL = auto()  # the real part of a complex number
    IMAGINARY = auto()  # its imaginary part

    # Elementwise, two sources
    ADD = auto()
    SUB = auto()
    MUL = auto()
    DIV = auto()  # floats only
    FLOORDIV = auto()  # rounds down; an integer divided by zero is a fault
    MOD = auto()  # the sign of the divisor, as Python has it
    MAXIMUM = auto()  # NaN wins
    MINIMUM = auto()  # NaN wins
    POW = auto()
    ATAN2 = auto()
    COPYSIGN = auto()
    AND = auto()
    OR = auto()
    XOR = auto()
    SHL = auto()
    SHR = auto()
    COMPLEX = auto()  # (real part, imaginary part)
    DOT = auto()  # (word, word) (dtype, dtype): the sum of products of the elements in two uint32
    THREEFRY = auto()  # (counter, key): 64 random bits, a function of both; all are uint64
    CMPLT = auto()
    CMPLE = auto()
    CMPEQ = auto()
    CMPNE = auto()

    # Elementwise, three sources
    WHERE = auto()  # (condition, if true, if false)

    # Values over whole axes
    REDUCE_AXES = auto()  # (x) (combining op, axes): the axes stay, with length 1
    GATHER = auto()  # (x, an int64 index per axis...): x at those positions; outside is a fault
    SCATTER = auto()  # (x, value, index per axis...) op or None: x, the values combined in
    SCAN = auto()  # (x, [initial]) (combining op, axis); loops: (value, initial, RANGE) op
    SORT = auto()  # (x): in ascending order along its last axis
    ARRANGE = auto()  # (x, starts, group): each element at the next place of its group, in order
    CONTIGUOUS = auto()  # (x) hints: must be in memory, row-major
    DETACH = auto()  # (x): no gradient flows through
    GRADIENT = auto()  # (value, inputs...) rule: the value; the rule gives the inputs' gradients
    COPY = auto()  # (x) device: the same values in the memory of that device
    CUSTOM = auto()  # (function, x...) (name, ((shape, dtype), ...), n): its n-th output

    # Memory and order
    STORE = auto()  # (target, value, [index per axis...]) op; loops: (INDEX, value, ranges...) op
    AFTER = auto()  # (value, effects...): the value as it is once the effects have happened
    STAGE = auto()  # (x) (space, axis); loops: (value, offset, ranges...) (space, op or None);
    #                 where they are to be in order then, the op is (SORT, how many)
    SINK = auto()  # (roots...): one graph to compile together

    # Loops
    RANGE = auto()  # (extent) (number, placement): a counter from 0 to extent
    REDUCE = auto()  # (value, ranges...) combining op: closes the ranges
    INDEX = auto()  # (PARAM or STAGE, offset, [gate]): a place in memory, valid where gate holds
    LOAD = auto()  # (INDEX): its content; zero where the gate does not hold
    TALLY = auto()  # (INDEX of a STAGE, RANGE): its content, which is greater by one from then on
    CHECK = auto()  # (value, condition, [gate]) (site, n): n, and a fault where the condition fails

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

TERNARY = frozenset({Op.WHERE})
ELEMENTWISE = UNARY | BINARY | TERNARY

COMMUTATIVE = frozenset({
    Op.ADD, Op.MUL, Op.MAXIMUM, Op.MINIMUM, Op.AND, Op.OR, Op.XOR, Op.CMPEQ, Op.CMPNE,
})  # fmt: skip
REDUCING = frozenset({Op.ADD, Op.MUL, Op.MAXIMUM, Op.MINIMUM, Op.AND, Op.OR})

SCRATCH = "scratch"
"""The space of a `STAGE` in memory that a thread has for itself, written anew in each tile."""

LOOP, PARALLEL, UPCAST, LANE = "loop", "parallel", "upcast", "lane"
"""The placements of a `RANGE`: run through by a loop, shared out to threads, held in registers side
by side, or in the lanes of one register."""

IRREGULAR = "gather"
"""The stride of a `LOAD` or `STORE` whose lanes lie anywhere."""
