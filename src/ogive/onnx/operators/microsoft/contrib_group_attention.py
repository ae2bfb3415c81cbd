"""GroupQueryAttention of com.microsoft: several heads of queries share one of keys and values.

Rows of a batch may have caches of different lengths: of each, `seqlens_k + 1` keys count after this
call. The new ones go behind the old ones of their row, and what lies behind them is not looked at.

    past of row 0   k k k .      present   k k k n n      n: the new keys of this call
    past of row 1   k . . .                k n n . .
"""

from __future__ import annotations

import math

from ogive.compiler.ir import dtype as dtypes
from ogive.onnx.call import Call
from ogive.onnx.dynamic_lengths import Length, is_fixed
from ogive.onnx.operators import CONTRIB
from ogive.onnx.operators.layers.sequence_attention import rotate
from ogive.onnx.operators.microsoft.contrib_attention import join_heads, split_heads
from ogive.onnx.operators.shapes.movement import shape_of
from ogive.onnx.table import Value, operator
from ogive.tensor.creation.constructors import arange
from ogive.tensor.movement.joining import cat
from ogive.tensor.tensor import Tensor


@operator("GroupQueryAttention", domain=CONTRIB)
def attention_by_groups(c: Call) -> Value:
    query, key, value = _split_inputs(c)
    if c.has(11) or c.flag("smooth_softmax") or c.get("qk_output", 0):
        raise c.refuse("sinks, smooth softmax and scores as an output are not there")
    count = shape_of(query)[2]
    before = (c.tensor(5).cast(dtypes.int64).reshape(-1, 1) + 1 - count).clamp(0)
    places = before + arange(count).reshape(1, count)  # [batch, count]: where the new keys go
    if c.flag("do_rotary"):
        at = c.tensor(9) if c.has(9) else places
        query, key = (_rotated(c, each, at) for each in (query, key))
    key, value = _joined(c, key, 3, before), _joined(c, value, 4, before)
    result = join_heads(_attend(c, query, key, value, places))
    return (result, key, value) if len(c.node.outputs) > 1 else result


def _split_inputs(c: Call) -> list[Tensor]:
    """Queries, keys and values, each as [batch, heads, length, size]."""
    heads, groups = c.get("num_heads"), c.get("kv_num_heads")
    if c.has(1):
        given = [c.tensor(0), c.tensor(1), c.tensor(2)]
    else:
        size = shape_of(c.tensor(0))[2] // (heads + 2 * groups)
        given = list(c.tensor(0).split([heads * size, groups * size, groups * size], 2))
    counts = heads, groups, groups
    return [split_heads(each, count) for each, count in zip(given, counts, strict=True)]


def _rotated(c: Call, x: Tensor, places: Tensor) -> Tensor:
    turned = rotate(
        x.permute(0, 2, 1, 3), c.tensor(7)[places].unsqueeze(2), c.tensor(8)[places].unsqueeze(2),
        c.flag("rotary_interleaved"),
    )  # fmt: skip
    return turned.permute(0, 2, 1, 3)


def _joined(c: Call, new: Tensor, past: int, before: Tensor) -> Tensor:
    """A cache with the new keys or values in it, behind those `before` in each row."""
    if not c.has(past):
        return new
    old = c.tensor(past)
    count, held = shape_of(new)[2], shape_of(old)[2]
    length = _length(c, held, count)
    if shape_of(new)[0] == 1 and length == held + count:  # the one row has as many as there is room
        return cat([old, new], 2)
    missing = length - held
    old = old if is_fixed(missing) and missing == 0 else old.pad([0, 0, 0, missing])
    source = (arange(length).reshape(1, length) - before).unsqueeze(1).unsqueeze(-1)
    within = source.clamp(0, count - 1).expand(*shape_of(new)[:2], length, shape_of(new)[3])
    return new.gather(2, within).where((source >= 0).logical_and(source < count), old)


def _length(c: Call, held: Length, count: Length) -> Length:
    """The length of a cache after a call. One that has room stays as it is."""
    total = c.number(6)
    return max(held, total) if is_fixed(held, total) else held + count


def _attend(c: Call, query: Tensor, key: Tensor, value: Tensor, places: Tensor) -> Tensor:
    """Each query looks at the keys up to its own place, or at the last few of them."""
    repeats = shape_of(query)[1] // shape_of(key)[1]
    if repeats > 1:
        key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
    scores = query @ key.transpose(2, 3) * (c.get("scale") or 1 / math.sqrt(shape_of(query)[3]))
    limit = c.get("softcap", 0.0)
    if limit:
        scores = (scores / limit).tanh() * limit
    if c.has(10):
        scores = scores + c.tensor(10)
    own = places.unsqueeze(1).unsqueeze(-1)
    length = shape_of(key)[2]
    others = arange(length).reshape(1, 1, 1, length)
    seen, window = others <= own, c.get("local_window_size", -1)
    if window >= 0:
        seen = seen.logical_and(others > own - window)
    return scores.masked_fill(seen.logical_not(), -math.inf).softmax(-1) @ value
