"""The first pass as the engine runs it: what was asked for becomes a parametric graph."""

from __future__ import annotations

from ogive.compiler.ir.device_names import FILES
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.capture.normalize import Normalized
from ogive.compiler.passes.pipeline.capture_passes import normalize_graph
from ogive.compiler.passes.pipeline.pass_runner import Watcher
from ogive.config import Config


def to_parametric(
    asked: tuple[UOp, ...],
    config: Config,
    whole: bool = False,
    order: list[UOp] | None = None,
    watch: Watcher | None = None,
    calls: bool = False,
) -> Normalized:
    """The parametric graph of `asked`, with what was taken out of it; of files, only what is read.

    With `whole`, buffers in memory are read whole. `order` is the walk of `asked`, if known.
    `watch` is told of the pass. With `calls`, those of the library's functions are left in it.
    """
    if config.verify:
        from ogive.compiler.ir.node_parts.accessors import check_accessors

        check_accessors(UOp)
    normalized = normalize_graph(asked, config, whole, order, watch, calls)
    if FILES in [window.buffer.device for window in normalized.windows]:
        from ogive.compiler.engine.file_reads import narrow_files

        normalized = normalize_graph(narrow_files(asked), config, whole, None, watch, calls)
    return normalized
