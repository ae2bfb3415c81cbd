"""Compiles a region to LLVM IR: the passes of all devices, then the emitter."""

from __future__ import annotations

from ogive.compiler.devices.protocol import CompiledKernel
from ogive.compiler.ir.dtype import index
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import PARALLEL, Op
from ogive.compiler.passes.lower.kernel_names import kernel_axes, kernel_name
from ogive.compiler.passes.lower.kernel_signature import kernel_signature
from ogive.compiler.passes.lower.linearize import Item
from ogive.compiler.passes.lower.tile_work import tile_costs, work_per_tile
from ogive.compiler.passes.pipeline.kernel_dialects import INSTRUCTIONS
from ogive.compiler.passes.pipeline.pass_runner import Compilation, Dialect, Pass, Watcher
from ogive.compiler.passes.pipeline.region_passes import LOWERING_PASSES, REGION_PASSES
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.targets.target import Target
from ogive.config import Config
from ogive.errors import CompileError, VerifyError
from ogive.named import NamedTuple


def _check_text(text: str) -> None:
    from ogive.compiler.devices.llvm.library.assembler import check_module

    try:
        check_module(text)
    except CompileError as error:
        raise VerifyError(f"in the llvm dialect: {error}") from error


LLVM = Dialect("llvm", "the text of an LLVM module", _check_text, str)
EMIT_PASSES = (
    Pass("emit", INSTRUCTIONS, LLVM, "devices/llvm",
         'EXP(LOAD(x, r0)) → define void @"e_12"(…) { %4 = load float, ptr %3 … }',
         reads=("lowered", "name", "target", "config.poison")),
)  # fmt: skip


class PlacedKernel(NamedTuple):
    """A kernel before its text: its name, its lowered graph, its instructions in order."""

    name: str
    root: UOp
    program: list[Item]

    @property
    def tiles(self) -> UOp:
        """The number of tiles of the parallel axis: an index expression of variables."""
        for node in self.root.walk():
            if node.op is Op.RANGE and node.placement == PARALLEL:
                return node.extent
        return UOp.const(index, 1)


def compile_region(
    region: UOp,
    target: Target,
    config: Config,
    placement: Placement | None = None,
    watch: Watcher | None = None,
    emit_passes: tuple[Pass, ...] = EMIT_PASSES,
) -> CompiledKernel:
    """The kernel of one region, with the heuristic placement unless `placement` is given.

    `emit_passes` write its text; by default they are those of the host.
    """
    compilation = Compilation(config, watch, region=region, target=target, placement=placement)
    compilation.run(REGION_PASSES)
    return _compiled(compilation, emit_passes)


def compile_placed(
    loops: UOp, placement: Placement, target: Target, config: Config
) -> CompiledKernel:
    """The kernel of a loop graph under a given placement."""
    compilation = Compilation(config, loops=loops, target=target, placement=placement)
    compilation.run(LOWERING_PASSES)
    return _compiled(compilation, EMIT_PASSES)


def linearize_placed(loops: UOp, placement: Placement, config: Config) -> PlacedKernel:
    """A loop graph under a given placement. Raises `OptimizeError` if that is not possible."""
    compilation = Compilation(config, loops=loops, placement=placement)
    compilation.run(LOWERING_PASSES)
    return _placed(compilation)


def write_placed(kernel: PlacedKernel, target: Target, config: Config) -> str:
    """The LLVM IR of a kernel."""
    name, lowered, program = kernel
    compilation = Compilation(
        config, instructions=program, lowered=lowered, name=name, target=target
    )
    text: str = compilation.run(EMIT_PASSES)
    return text


def _placed(compilation: Compilation) -> PlacedKernel:
    values = compilation.values
    return PlacedKernel(
        kernel_name(values.loops, values.lowered), values.lowered, values.instructions
    )


def _compiled(compilation: Compilation, emit_passes: tuple[Pass, ...]) -> CompiledKernel:
    kernel = _placed(compilation)
    lowered = kernel.root
    compilation.values.name = kernel.name
    return CompiledKernel(
        name=kernel.name,
        axes=kernel_axes(lowered),
        ir=compilation.run(emit_passes),
        signature=kernel_signature(lowered),
        tiles=kernel.tiles,
        work=work_per_tile(lowered, compilation.values.target),
        costs=tile_costs(lowered, compilation.values.target),
        timings=compilation.timings,
    )
