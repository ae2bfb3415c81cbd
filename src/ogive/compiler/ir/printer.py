"""Graphs as text. Nothing here recurses, and every line has a limit of length."""

from __future__ import annotations

from typing import Any

from ogive.compiler.ir.dtype import index
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import COMPARISON, Op
from ogive.compiler.ir.traversal import walk

_LINE = 160
"""The greatest length of a line, in characters."""
_INFIX: dict[Op, tuple[str, int]] = {
    Op.OR: ("|", 1), Op.AND: ("&", 2), Op.CMPLT: ("<", 4), Op.CMPLE: ("<=", 4),
    Op.CMPEQ: ("==", 4), Op.CMPNE: ("!=", 4), Op.ADD: ("+", 6), Op.SUB: ("-", 6), Op.MUL: ("*", 8),
    Op.FLOORDIV: ("//", 7), Op.MOD: ("%", 7),
}  # fmt: skip
_CALLS = {Op.WHERE: "where", Op.MAXIMUM: "max", Op.MINIMUM: "min", Op.ABS: "abs"}
_PREFIX: dict[Op, tuple[str, int]] = {Op.NOT: ("not ", 3), Op.NEG: ("-", 9)}
_LEAF = 10


def format_node(node: UOp) -> str:
    """One line for a node: its expression if it is index arithmetic, else the node and its sources.

    `ADD float32 (LOAD, CONST 1.0)`
    """
    if node.dtype is index or _is_condition(node):
        return format_index(node)
    sources = ", ".join([_summary(source) for source in node.src[:8]])
    if len(node.src) > 8:
        sources += f", … {len(node.src) - 8} more"
    return _cut(_summary(node) + (f" ({sources})" if sources else ""))


def _is_condition(node: UOp) -> bool:
    for _ in range(8):
        if node.op not in (Op.AND, Op.OR, Op.NOT):
            break
        node = node.src[0]
    return node.op in COMPARISON and node.left.dtype is index


def _summary(node: UOp) -> str:
    parts = [node.op.name]
    if node.dtype.name != "void":
        parts.append(node.dtype.name)
    if node.arg is not None and not (node.op.is_tuple and set(node.arg) == {None}):
        parts.append(_argument(node.arg))
    return _cut(" ".join(parts), 60)


def _argument(argument: Any) -> str:
    if isinstance(argument, tuple):
        inner = ", ".join([_argument(part) for part in argument])
        return f"({inner},)" if len(argument) == 1 else f"({inner})"
    return argument.name if isinstance(argument, Op) else repr(argument)


def _cut(text: str, length: int = _LINE) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def format_index(node: UOp, limit: int = _LINE) -> str:
    """An index expression or a condition in infix form, such as `i0*4 + i1`, cut at `limit`."""
    done: _Texts = {}
    # A shared part is written once per use, so each text is cut as it is made, not at the end.
    stack: list[tuple[UOp, bool]] = [(node, False)]
    while stack:
        current, ready = stack.pop()
        if current in done:
            continue
        inside = _expression_sources(current)
        if ready or not inside:
            text, binding = _expression(current, done)
            done[current] = (_cut(text, limit), binding)
        else:
            stack.append((current, True))
            stack.extend([(source, False) for source in inside])
    return done[node][0]


def _expression_sources(node: UOp) -> tuple[UOp, ...]:
    """The sources that are written as parts of the expression."""
    written = node.op in _INFIX or node.op in _PREFIX or node.op in _CALLS or node.op is Op.CAST
    return node.src if written else ()


_Texts = dict[UOp, tuple[str, int]]


def _expression(node: UOp, texts: _Texts) -> tuple[str, int]:
    """The text of `node`, given the texts of its sources, and its binding strength."""
    op = node.op
    if op is Op.CONST:
        return str(node.arg), _LEAF if node.arg >= 0 else 9
    if op is Op.RANGE:
        return f"i{node.number}", _LEAF
    if op is Op.VARIABLE:
        return str(node.name), _LEAF
    if op is Op.BIND:
        return f"{node.variable.name}={node.bound.literal}", 0
    if op in _PREFIX:
        symbol, binding = _PREFIX[op]
        return symbol + _within(texts[node.operand], binding), binding
    if op in _INFIX:
        symbol, binding = _INFIX[op]
        left = _within(texts[node.left], binding)
        if op is Op.ADD and (subtracted := _subtracted(node.right, texts)) is not None:
            return f"{left} - {subtracted}", binding
        if op is Op.ADD and (subtracted := _subtracted(node.left, texts)) is not None:
            return f"{_within(texts[node.right], binding)} - {subtracted}", binding
        joined = symbol if op is Op.MUL else f" {symbol} "
        return f"{left}{joined}{_within(texts[node.right], binding + 1)}", binding
    if op is Op.CAST:
        return f"{node.dtype.name}({texts[node.operand][0]})", _LEAF
    if op in _CALLS:
        return f"{_CALLS[op]}({', '.join([texts[source][0] for source in node.src])})", _LEAF
    return _summary(node).replace(" ", ":"), _LEAF


def _subtracted(term: UOp, texts: _Texts) -> str | None:
    """The text after a minus sign: `x*3` for `x*-3`, `3` for `-3`; None for other terms."""
    if term.op is Op.CONST and term.arg < 0:
        return str(-term.arg)
    if term.op is not Op.MUL or term.right.op is not Op.CONST or term.right.literal >= 0:
        return None
    factor = -term.right.literal
    return _within(texts[term.left], 8) + (f"*{factor}" if factor != 1 else "")


def _within(part: tuple[str, int], binding: int) -> str:
    return part[0] if part[1] >= binding else f"({part[0]})"


def format_tree(root: UOp | tuple[UOp, ...]) -> str:
    """A numbered listing of the graph under `root`: each node once, sources first.

        %0 = PARAM float32 (0, 12) [12]
        %1 = RESHAPE float32 (3, 4) (%0) [3, 4]

    Index expressions are written in infix form where they are used.
    """
    nodes = walk(root if isinstance(root, tuple) else (root,))
    numbers: dict[UOp, int] = {}
    lines: list[str] = []
    for node in nodes:
        if node.dtype is index and node.op is not Op.RANGE:
            continue
        numbers[node] = number = len(lines)
        sources = ", ".join([_reference(source, numbers) for source in node.src])
        line = f"%{number} = {_summary(node)}" + (f" ({sources})" if sources else "")
        shape = node.shape
        if shape:
            line += f" [{', '.join([str(size) for size in shape])}]"
        lines.append(line)
    return "\n".join(lines) if lines else format_index(nodes[-1])


def _reference(source: UOp, numbers: dict[UOp, int]) -> str:
    number = numbers.get(source)
    return format_index(source, 80) if number is None else f"%{number}"
