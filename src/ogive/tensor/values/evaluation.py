"""Computing values: at once, or by a plan that is executed many times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ogive.compiler.ir.device_names import FILES, is_group
from ogive.errors import ArgumentError, ArgumentTypeError
from ogive.tensor.core import Core
from ogive.tensor.creation import user_data

if TYPE_CHECKING:
    from ogive.compiler.engine import Plan
    from ogive.config import Config
    from ogive.tensor.tensor import Tensor


def realize(self: Tensor, config: Config | None = None) -> Tensor:
    """Compute the values now and keep them. Returns the tensor itself.

    >>> (Tensor([1, 2]) + 1).realize().is_realized
    True
    """
    import ogive.compiler.engine as engine

    engine.realize([self], config)
    return self


def realize_batch(tensors: Sequence[Tensor], config: Config | None = None) -> None:
    """Compute several tensors as one graph, so that common parts are computed once.

    >>> a = Tensor([1.0]).exp(); b = a + 1
    >>> Tensor.realize_batch([a, b])
    """
    chosen = [tensor for tensor in _to_list(tensors, "realize_batch") if not tensor.is_eager]
    if chosen:
        import ogive.compiler.engine as engine

        engine.realize(chosen, config)


class Repeatable(Protocol):
    """Assignments that were carried out, and can be repeated without building their graph."""

    def carry_out(self, operands: Sequence[Tensor]) -> bool:
        """Carry them out with other operands; False if that is not possible."""


def carry_out_noting(
    changed: Sequence[Tensor], operands: Sequence[Tensor]
) -> Repeatable | None:
    """Compute the pending assignments of `changed`, which depend only on `operands`, all memory.

    Gives an object that can repeat them, if that is possible.
    """
    import ogive.compiler.engine as engine

    return engine.carry_out_noting(changed, operands)


def prepare(self: Tensor, config: Config | None = None) -> Plan:
    """Compile the computation of this tensor into a plan, which can be executed many times.

    >>> plan = (Tensor([1, 2]) + 1).prepare()
    >>> plan.execute()
    """
    return self.prepare_batch([self], config)


def prepare_batch(tensors: Sequence[Tensor], config: Config | None = None) -> Plan:
    """Compile the computation of several tensors into one plan.

    Raises `ArgumentError` if there is nothing to prepare.
    """
    chosen = _to_list(tensors, "prepare_batch")
    if not chosen:
        raise ArgumentError("prepare_batch needs at least one tensor")
    import ogive.compiler.engine as engine

    return engine.prepare(chosen, config)


def is_realized(self: Tensor) -> bool:
    """Whether the values are in memory."""
    if self.device == FILES:
        return False
    if is_group(self.device):
        import ogive.compiler.engine as engine

        return engine.is_spread_memory(self.node)
    memory = user_data.memory_of(self.node)
    return memory is not None and memory.allocated


def _to_list(tensors: Any, name: str) -> list[Tensor]:
    if not isinstance(tensors, tuple | list):
        raise ArgumentTypeError(f"{name} takes a list of tensors, not {type(tensors).__name__}")
    chosen: list[Tensor] = []
    for entry in tensors:
        if not isinstance(entry, Core):
            raise ArgumentTypeError(f"{name} takes tensors, got {entry!r}")
        chosen.append(entry)  # type: ignore[arg-type]  # `Tensor` is the one class of its kind
    return chosen
