"""Write tensors as PyTorch prints them: the values in columns, then all that is not the default.

    tensor([[1.0000, 0.5000],
            [2.0000, 0.2500]], dtype=torch.float64, grad_fn=<MulBackward0>)
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.ir.dtype import bool_, complex64, complex128, float64, int64
from ogive.eager.tensors import PLAIN_CLASS
from ogive.errors import TraceError
from ogive.named import record
from ogive.tensor.core import DEFAULT_DEVICE
from ogive.tensor.tensor import Tensor
from ogive.torch.machine import defaults

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["set_printoptions"]


@record(frozen=True)
class PrintOptions:
    """The settings of `torch.set_printoptions`.

    They are the digits after the point, the largest number of elements that is shown whole, the
    number of elements shown at each end of a larger tensor, the columns of a line, and whether
    numbers are written as powers of ten (None: if the values need it).
    """

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}
_options = [PrintOptions()]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed.

    >>> ogive.torch.set_printoptions(precision=2)
    >>> ogive.torch.tensor([0.125])
    tensor([0.12])
    >>> ogive.torch.set_printoptions(profile="default")
    """
    options = _options[0] if profile is None else _PROFILES[profile]
    given = {
        "precision": precision, "threshold": threshold, "edgeitems": edgeitems,
        "linewidth": linewidth,
    }  # fmt: skip
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    _options[0] = replace(options, sci_mode=sci_mode, **changes)


def write_tensor(self: Tensor) -> str:
    """`repr(x)` and `str(x)` of a tensor, its values computed if need be."""
    from ogive.nn.parameter import Parameter  # late, because it loads all layers

    options = _options[0]
    kind = PLAIN_CLASS.get(type(self), type(self))
    prefix = "tensor(" if kind in (Tensor, Parameter) else f"{kind.__name__}("
    try:
        values = self.value if self.is_eager else self.detach().numpy()
    except TraceError:
        facts = f"shape={self.shape}, dtype={self.dtype}"
        return f"{prefix}..., {facts})"  # a captured function has no values yet
    return _with_facts(prefix + _write(values, len(prefix), options), _facts(self), options)


def format_tensor(self: Tensor, spec: str) -> str:
    """`format(x, spec)`; for a scalar, the format of its number."""
    if self.ndim == 0 and PLAIN_CLASS.get(type(self), type(self)) is Tensor:
        return format(self.item(), spec)
    return object.__format__(self, spec)


def _facts(self: Tensor) -> list[str]:
    """The facts after the values: size, dtype and device, if they are not the default."""
    facts = []
    if self.device != DEFAULT_DEVICE:
        facts.append(f"device='{self.device}'")
    default = defaults.get_default_dtype()
    if self.numel() == 0:
        if self.ndim != 1:
            facts.append(f"size={tuple(self.shape)}")
        if self.dtype is not default:
            facts.append(f"dtype={self.dtype!r}")
    else:
        pair = complex128 if default is float64 else complex64
        if self.dtype not in (default, pair, int64, bool_):
            facts.append(f"dtype={self.dtype!r}")
    if self.grad_fn is not None:
        facts.append(f"grad_fn=<{self.grad_fn.name()}>")
    elif self.requires_grad:
        facts.append("requires_grad=True")
    return facts


def _with_facts(text: str, facts: list[str], options: PrintOptions) -> str:
    """The text with the facts after the values, each on a new line if the line gets too long."""
    indent = text.index("(") + 1
    length = len(text) - text.rfind("\n") + 1
    for fact in facts:
        if length + len(fact) + 2 > options.linewidth:
            text += ",\n" + " " * indent + fact
            length = indent + len(fact)
        else:
            text += ", " + fact
            length += len(fact) + 2
    return text + ")"


def _write(values: NDArray[Any], indent: int, options: PrintOptions) -> str:
    if values.size == 0:
        return "[]"
    if values.dtype.kind == "V":  # the small floats of ml_dtypes
        values = values.astype(numpy.float32)
    is_cut = values.size > options.threshold
    seen = _ends(values, options.edgeitems) if is_cut else values
    columns = (
        [_Column(seen.real, options), _Column(seen.imag, options)]
        if values.dtype.kind == "c"
        else [_Column(seen, options)]
    )
    return _nested(values, indent, options.edgeitems if is_cut else None, columns, options)


def _ends(values: NDArray[Any], count: int) -> NDArray[Any]:
    """The elements at the ends, for a tensor that is not shown whole."""
    for axis, length in enumerate(values.shape):
        if length > 2 * count:
            kept = [*range(count), *range(length - count, length)]
            values = values.take(kept, axis)
    return values


class _Column:
    """The format of a tensor's numbers, which all have one width."""

    def __init__(self, values: NDArray[Any], options: PrintOptions) -> None:
        self._is_float = values.dtype.kind == "f"
        self._precision = options.precision
        self._is_whole = True
        self._is_scientific = False
        self.width = 1
        shown = values.reshape(-1)
        if self._is_float:
            shown = shown[numpy.isfinite(shown) & (shown != 0)].astype(numpy.float64)
            if shown.size == 0:
                return
            self._is_whole = bool((shown == numpy.ceil(shown)).all())
            least, most = numpy.abs(shown).min(), numpy.abs(shown).max()
            self._is_scientific = (
                bool(most / least > 1000 or most > 1e8 or least < 1e-4)
                if options.sci_mode is None
                else options.sci_mode
            )
        self.width = max([1, *[len(self._digits(value)) for value in shown.tolist()]])

    def write(self, value: Any) -> str:
        return self._digits(value).rjust(self.width)

    def _digits(self, value: Any) -> str:
        if not self._is_float:
            return str(value)
        if self._is_scientific:
            return f"{value:.{self._precision}e}"
        if self._is_whole:
            return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"
        return f"{value:.{self._precision}f}"


def _nested(
    values: NDArray[Any],
    indent: int,
    ends: int | None,
    columns: list[_Column],
    options: PrintOptions,
) -> str:
    """Nested lists of numbers as text; of long lists only the `ends`."""
    if values.ndim == 0:
        return _number(values.item(), columns)
    is_cut = ends is not None and len(values) > 2 * ends
    rows = [*values[:ends], *values[len(values) - (ends or 0) :]] if is_cut else list(values)
    if values.ndim == 1:
        texts = [_number(value.item(), columns) for value in rows]
        gap = " ..."
    else:
        texts = [_nested(row, indent + 1, ends, columns, options) for row in rows]
        gap = "..."
    if is_cut:
        texts.insert(ends or 0, gap)
    margin = " " * (indent + 1)
    if values.ndim > 1:
        return "[" + ("," + "\n" * (values.ndim - 1) + margin).join(texts) + "]"
    width = sum([column.width for column in columns]) + len(columns) + 1
    fitting = max(1, (options.linewidth - indent) // width)
    lines = [", ".join(texts[at : at + fitting]) for at in range(0, len(texts), fitting)]
    return "[" + f",\n{margin}".join(lines) + "]"


def _number(value: Any, columns: list[_Column]) -> str:
    if len(columns) == 1:
        return columns[0].write(value)
    imaginary = columns[1].write(value.imag).lstrip() + "j"
    sign = "" if imaginary[0] in "+-" else "+"
    return columns[0].write(value.real) + sign + imaginary
