"""State of optimizers in parts: each device of an axis of a mesh, or each rank of a group, has one.

    AdamW(parameters, shard=mesh["data"])      devices of this process: state is a divided tensor
    AdamW(parameters, shard=group)             ranks: state is that of this rank's part

Over devices, tensors are whole values wherever they lie, and nothing but the place of the state
changes: the compiler divides the work and gathers new parameters. Ranks do it themselves. A rank's
part of a parameter is an equal share of its elements in a row, the last one filled up with zeros.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from ogive.autograd import no_grad
from ogive.errors import ArgumentError, ArgumentTypeError
from ogive.tensor.core import to_tensor
from ogive.tensor.mesh import MeshAxis
from ogive.tensor.tensor import Tensor


@runtime_checkable
class RankParts(Protocol):
    """A group of ranks that keep parts of tensors (`distributed.Group`)."""

    def own_part(self, tensor: Tensor) -> Tensor:
        """This rank's share of the elements, in a row."""

    def join_parts(self, parts: Sequence[Tensor], shapes: Sequence[Any]) -> list[Tensor]:
        """Tensors of these shapes, of which each rank gives its parts."""


StateParts = MeshAxis | RankParts
"""What `shard` may be."""


class Whole:
    """State that lies as its parameter does."""

    ranks = False

    def place(self, value: Tensor, parameter: Tensor) -> Tensor:
        """Where state of a parameter's shape is kept."""
        return value.shard_like(parameter)

    def own(self, tensor: Tensor) -> Tensor:
        """The part of a parameter, or of its gradient, that this process changes."""
        return tensor

    def join(self, new: Sequence[tuple[Tensor, Tensor]]) -> Iterable[tuple[Tensor, Tensor]]:
        """Parameters with their new values, given those of what this process changes."""
        return new

    def whole_state(self, own: Mapping[str, Tensor], parameter: Tensor) -> Mapping[str, Tensor]:
        """State as it is saved."""
        return own

    def own_state(self, saved: Any, kept: Tensor, parameter: Tensor) -> Any:
        """The part of saved state that this process keeps."""
        return saved


class OverMesh(Whole):
    """State that is divided along an axis of a mesh too."""

    def __init__(self, axis: MeshAxis) -> None:
        self._axis = axis

    def place(self, value: Tensor, parameter: Tensor) -> Tensor:
        return self._axis.divide(value.shard_like(parameter))


class OverRanks(Whole):
    """State of this rank's part alone."""

    ranks = True

    def __init__(self, group: RankParts) -> None:
        self._group = group

    def place(self, value: Tensor, parameter: Tensor) -> Tensor:
        return value

    def own(self, tensor: Tensor) -> Tensor:
        with no_grad():
            return self._group.own_part(tensor.detach())

    def join(self, new: Sequence[tuple[Tensor, Tensor]]) -> Iterable[tuple[Tensor, Tensor]]:
        parameters = [parameter for parameter, _ in new]
        shapes = [parameter.shape for parameter in parameters]
        joined = self._group.join_parts([value for _, value in new], shapes)
        return zip(parameters, joined, strict=True)

    def whole_state(self, own: Mapping[str, Tensor], parameter: Tensor) -> Mapping[str, Tensor]:
        parts = {name: tensor for name, tensor in own.items() if tensor.ndim == 1}
        joined = self._group.join_parts(list(parts.values()), [parameter.shape] * len(parts))
        return dict(zip(parts, joined, strict=True))

    def own_state(self, saved: Any, kept: Tensor, parameter: Tensor) -> Any:
        value = saved if isinstance(saved, Tensor) else to_tensor(saved, kept.device)
        return self.own(value) if value.shape == parameter.shape else saved


def parts_of_state(shard: Any, name: str, is_elementwise: bool) -> Whole:
    """The parts of state that `shard` describes. Raises `ArgumentError`, `ArgumentTypeError`."""
    if shard is None:
        return Whole()
    if isinstance(shard, MeshAxis):
        return OverMesh(shard)
    if not isinstance(shard, RankParts):
        raise ArgumentTypeError(
            f'{name}: shard is an axis of a mesh, as mesh["data"], or a group of ranks, not '
            f"{shard!r}"
        )
    if not is_elementwise:
        raise ArgumentError(
            f"{name}: an element's update follows from others of its parameter too, which ranks "
            "with parts of it do not have; shard over an axis of a Mesh, or not at all"
        )
    return OverRanks(shard)
