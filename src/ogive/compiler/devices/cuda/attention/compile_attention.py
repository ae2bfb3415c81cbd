"""Compile a region that is an attention: one launch, after copies of those operands whose lines
the copying engine cannot read."""

from __future__ import annotations

import math

from ogive.compiler.devices.cuda.attention.attention_kernel import (
    AttentionForm,
    attention_parameters,
    write_attention,
)
from ogive.compiler.devices.cuda.attention.attention_tiles import (
    THREADS,
    TILE_ROWS,
    Operand,
    choose_tile,
    head_group,
    last_column,
    most_edges,
    tiles_together,
)
from ogive.compiler.devices.cuda.attention.region_attention import (
    ELEMENTS,
    RegionAttention,
    extent,
    find_attention,
)
from ogive.compiler.devices.cuda.attention.warpgroup_products import BOX
from ogive.compiler.devices.cuda.products.compile_product import ProductCode, write_code
from ogive.compiler.devices.cuda.products.launches import (
    Argument,
    Launch,
    Memory,
    Number,
    TensorMap,
)
from ogive.compiler.devices.cuda.products.plans import PaddedCopy, launch_copies
from ogive.compiler.devices.cuda.tensor_cores.kernel_text import POINTER, TENSOR_MAP
from ogive.compiler.devices.cuda.tensor_cores.tiles import ROWS
from ogive.compiler.devices.cuda.tensor_cores.warpgroup_instructions import LINE
from ogive.compiler.devices.protocol import CompiledKernel
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.lower.kernel_names import kernel_axes
from ogive.compiler.passes.lower.kernel_signature import kernel_signature
from ogive.compiler.passes.pipeline.pass_runner import Compilation
from ogive.compiler.passes.pipeline.region_passes import LOOP_PASSES
from ogive.compiler.targets.target import Target
from ogive.config import Config
from ogive.named import NamedTuple

WIDEST_COPY = 16
_ALIGNMENT = 256
_LOOPS = ("rangeify", "merge_axes", "split_axes")
_PASSES = tuple([each for each in LOOP_PASSES if each.name in _LOOPS])


def compile_attention(region: UOp, target: Target, config: Config) -> CompiledKernel | None:
    """Compile a region that is an attention; None if it is not one."""
    if not target.grid.tensor_cores or not target.cpu.endswith("a"):
        return None
    compilation = Compilation(config, region=region, target=target)
    loops: UOp = compilation.run(_PASSES)
    attention = find_attention(loops)
    if attention is None:
        return None
    signature = kernel_signature(loops)
    launches, workspace = _plan(attention, target)
    return CompiledKernel(
        name=f"attention_{extent(attention.row)}x{extent(attention.column)}",
        axes=kernel_axes(loops),
        ir=write_code(ProductCode(signature.slots, workspace, launches)),
        signature=signature,
        tiles=UOp.const(dtypes.index, 1),
        work=_terms(attention),
        costs=(max(1, _terms(attention) >> 16), *_bytes(attention)),
        timings=compilation.timings,
    )


def _terms(attention: RegionAttention) -> int:
    """How many products the attention adds up."""
    columns = [last_column(attention, row) for row in range(0, extent(attention.row), ROWS)]
    inner = sum([extent(score.terms) for score in attention.scores])
    inner += 0 if attention.depth is None else extent(attention.depth)
    return sum(columns) * ROWS * inner * _batches(attention)


def _batches(attention: RegionAttention) -> int:
    return math.prod([extent(axis) for axis in attention.batch])


def _bytes(attention: RegionAttention) -> tuple[int, int]:
    """The bytes read and the bytes written, each counted once."""
    tile = choose_tile(attention, 1 << 20)
    read = sum([
        extent(each.line) * extent(each.inner) * 2 for each in (*tile.rows, *tile.columns)
    ])  # fmt: skip
    depth = 1 if attention.depth is None else extent(attention.depth)
    written = extent(attention.row) * depth * attention.value.dtype.itemsize
    return read * _batches(attention), written * _batches(attention)


class _Lines(NamedTuple):
    """The place of an operand's lines: memory, and strides of lines and batches, in elements."""

    memory: Memory
    line: int
    batch: tuple[int, ...]


def _plan(attention: RegionAttention, target: Target) -> tuple[tuple[Launch, ...], int]:
    tile = choose_tile(attention, target.grid.shared_bytes)
    lines: dict[str, _Lines] = {}
    before: list[Launch] = []
    nbytes = 0
    operands = {f"rows{n}": each for n, each in enumerate(tile.rows)}
    operands |= {f"columns{n}": each for n, each in enumerate(tile.columns)}
    for name, operand in operands.items():
        strides = operand.strides(attention.batch)
        if _is_taken(operand, strides):
            memory = Memory(f"slot{operand.access.slot}", operand.access.first * 2)
            lines[name] = _Lines(memory, strides[1], strides[2:])
            continue
        copies, lines[name] = _copy_lines(attention, operand, nbytes)
        before += copies
        nbytes += extent(operand.line) * lines[name].line * _batches(attention) * 2
        nbytes += -nbytes % _ALIGNMENT
    has_edges = most_edges(attention, tile.block) > 1
    form = AttentionForm(attention, tile, _is_staged(attention), has_edges)
    return (*before, _launch(form, target, operands, lines)), nbytes


def _is_taken(operand: Operand, strides: tuple[int, ...]) -> bool:
    """Whether the copying engine can read the lines as they are."""
    return (
        strides[0] == 1
        and operand.access.first * 2 % WIDEST_COPY == 0
        and all(stride * 2 % WIDEST_COPY == 0 and stride >= 0 for stride in strides[1:])
        and (strides[1] > 0 or extent(operand.line) == 1)
    )


def _copy_lines(
    attention: RegionAttention, operand: Operand, nbytes: int
) -> tuple[list[Launch], _Lines]:
    """Launches that copy an operand's lines, one per place along the outermost of 3 batch axes."""
    strides, size = operand.strides(attention.batch), extent(operand.inner)
    pitch = (size * 2 + -size * 2 % LINE) // 2
    count = extent(operand.line)
    counts = [
        extent(axis) if stride else 1
        for axis, stride in zip(reversed(attention.batch), strides[2:], strict=True)
    ]
    inner, outer, outermost = [*counts, 1, 1, 1][:3]
    steps = [*strides[2:], 0, 0, 0][:3]
    copies = []
    for each in range(outermost):
        place = Memory("workspace", nbytes + each * inner * outer * count * pitch * 2)
        copy = PaddedCopy(
            "lines", attention.dtype, count, size, strides[1], strides[0], (steps[1], steps[0]),
            (outer, inner), pitch, place,
        )  # fmt: skip
        first = operand.access.first + each * steps[2]
        source = Memory(f"slot{operand.access.slot}", first * 2)
        copies.append(launch_copies((copy,), {"lines": source}))
    apart = (count * pitch, count * pitch * inner, count * pitch * inner * outer)
    batch = tuple([
        step if number > 1 else 0 for step, number in zip(apart, counts, strict=False)
    ])  # fmt: skip
    return copies, _Lines(Memory("workspace", nbytes), pitch, batch)


def _is_staged(attention: RegionAttention) -> bool:
    """Whether the copying engine stores the results."""
    access, depth = attention.result, attention.depth
    if depth is None or attention.value.dtype not in ELEMENTS or access.stride(depth) != 1:
        return False
    strides = [access.stride(axis) for axis in (attention.row, *attention.batch)]
    return access.first * 2 % WIDEST_COPY == 0 and all(s * 2 % WIDEST_COPY == 0 for s in strides)


def _launch(
    form: AttentionForm, target: Target, operands: dict[str, Operand], lines: dict[str, _Lines]
) -> Launch:
    attention, tile = form.attention, form.tile
    batches = _batches(attention)
    row_tiles = -(-extent(attention.row) // TILE_ROWS)
    processors = target.grid.multiprocessors
    turns = tiles_together(attention, row_tiles, row_tiles * batches, processors)
    row_units = -(-row_tiles // turns)
    counts = [1] * (3 - len(attention.batch)) + [extent(axis) for axis in attention.batch]
    values = {
        "rows": extent(attention.row), "columns": extent(attention.column), "batch1": counts[1],
        "batch2": counts[2], "group": head_group(batches), "row_tiles": row_tiles, "turns": turns,
        "row_units": row_units, "all_units": row_units * batches,
    }  # fmt: skip
    maps: dict[str, TensorMap] = {}
    for name, operand in operands.items():
        box = TILE_ROWS if name.startswith("rows") else tile.block
        maps[f"{name}_map"] = _map(attention, lines[name], operand, box)
        has = [*[int(stride != 0) for stride in lines[name].batch], 0, 0, 0][:3]
        values |= {f"{name}_has{2 - at}": flag for at, flag in enumerate(has)}
    if form.by_engine:
        maps["result_map"] = _result_map(attention)
    arguments: list[Argument] = []
    parameters = attention_parameters(form)
    for each in parameters:
        if each.type == TENSOR_MAP:
            arguments.append(maps[each.name])
        elif each.type == POINTER:
            arguments.append(Memory(each.name))
        else:
            arguments.append(Number(values[each.name], 4))
    module = write_attention(form, target)
    name = module.partition("define ptx_kernel void @")[2].partition("(")[0]
    blocks = min(values["all_units"], processors)
    return Launch(module, name, blocks, THREADS, tile.shared_bytes, tuple(arguments))


def _map(attention: RegionAttention, lines: _Lines, operand: Operand, box: int) -> TensorMap:
    """The map of an operand's lines with three batch axes; an axis of stride 0 has one element."""
    counts = [
        extent(axis) if stride else 1
        for axis, stride in zip(reversed(attention.batch), lines.batch, strict=True)
    ]
    strides = [stride if stride else lines.line for stride in lines.batch]
    return _tensor_map(
        lines.memory, attention, extent(operand.inner), extent(operand.line), lines.line, counts,
        strides, box,
    )  # fmt: skip


def _result_map(attention: RegionAttention) -> TensorMap:
    access, depth = attention.result, attention.depth
    assert depth is not None
    counts = [extent(axis) for axis in reversed(attention.batch)]
    strides = [access.stride(axis) for axis in reversed(attention.batch)]
    memory = Memory(f"slot{access.slot}", access.first * 2)
    line = access.stride(attention.row)
    return _tensor_map(
        memory, attention, extent(depth), extent(attention.row), line, counts, strides, ROWS
    )


def _tensor_map(
    memory: Memory, attention: RegionAttention, inner: int, count: int, line: int,
    counts: list[int], strides: list[int], box: int,
) -> TensorMap:  # fmt: skip
    """A map of five axes. The driver checks also the strides of axes of length 1, never used."""
    least = inner + -inner % 8
    extents = [inner, count, *counts, 1, 1, 1][:5]
    apart = [line, *strides, least, least, least][:4]
    apart = [
        stride if size > 1 else least for stride, size in zip(apart, extents[1:], strict=True)
    ]
    return TensorMap(
        memory, attention.dtype, tuple(extents), tuple([stride * 2 for stride in apart]),
        (BOX, box, 1, 1, 1), LINE,
    )  # fmt: skip
