"""Stage 2 as the engine runs it: what was asked for becomes a parametric graph."""

from __future__ import annotations

from ogive.config import Config
from ogive.ir.device_names import FILES
from ogive.ir.node import UOp
from ogive.passes.graph.normalize import Normalized, normalize


def to_parametric(
    asked: tuple[UOp, ...], config: Config, whole: bool = False, order: list[UOp] | None = None
) -> Normalized:
    """The parametric graph of `asked`, with what was taken out of it; of files, only what is read.

    With `whole`, buffers in memory are read whole. `order` is the walk of `asked`, if known. Both
    graphs are checked if the configuration says so.
    """
    if config.verify:
        from ogive.ir.accessors import check_accessors
        from ogive.ir.dialects.verify import verify

        check_accessors(UOp)
        verify(asked, "tensor")
    normalized = normalize(asked, whole, order)
    if FILES in [window.buffer.arg[0] for window in normalized.windows]:
        from ogive.engine.file_reads import narrow_files

        normalized = normalize(narrow_files(asked), whole)
    if config.verify:
        verify(normalized.sink, "parametric")
    return normalized
