"""Installs the properties and operators of nodes that other modules define: shapes, bounds, `+`.

Those modules import `ir/node.py`, which therefore cannot import them. Loading the package
`ogive.compiler.ir` loads this module, so that no node lacks them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_parts.computed_properties import define_property
from ogive.compiler.ir.shape import infer_shape
from ogive.compiler.ir.symbolic import index_arithmetic
from ogive.compiler.ir.symbolic.bounds import infer_bounds, infer_sound_bounds

_Binary = Callable[[Any, Any], UOp]


def _swapped(function: _Binary) -> _Binary:
    """`function` with its two operands exchanged."""
    return lambda right, left: function(left, right)


_OPERATORS: dict[str, Callable[..., UOp]] = {
    "__add__": index_arithmetic.add,
    "__radd__": _swapped(index_arithmetic.add),
    "__sub__": index_arithmetic.subtract,
    "__rsub__": _swapped(index_arithmetic.subtract),
    "__mul__": index_arithmetic.multiply,
    "__rmul__": _swapped(index_arithmetic.multiply),
    "__floordiv__": index_arithmetic.floordiv,
    "__rfloordiv__": _swapped(index_arithmetic.floordiv),
    "__mod__": index_arithmetic.modulo,
    "__rmod__": _swapped(index_arithmetic.modulo),
    "__neg__": index_arithmetic.negate,
    "__and__": index_arithmetic.logical_and,
    "__or__": index_arithmetic.logical_or,
    "__invert__": index_arithmetic.logical_not,
    "lt": index_arithmetic.less,
    "le": index_arithmetic.less_equal,
    "gt": _swapped(index_arithmetic.less),
    "ge": _swapped(index_arithmetic.less_equal),
    "eq": index_arithmetic.equal,
    "ne": index_arithmetic.not_equal,
}

define_property(UOp, "shape", infer_shape)
define_property(UOp, "bounds", infer_bounds)
define_property(UOp, "sound_bounds", infer_sound_bounds)
for _name, _operator in _OPERATORS.items():
    setattr(UOp, _name, _operator)
