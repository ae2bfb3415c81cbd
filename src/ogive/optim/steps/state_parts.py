"""Divide the state of optimizers: among the devices along a mesh axis, or among ranks.

    AdamW(parameters, shard=mesh["data"])      devices of this process: state is a divided tensor
    AdamW(parameters, shard=group)             ranks: each has the state of its part

Over devices, a divided tensor is still one value. Only the placement of the state changes, and the
compiler divides the work and gathers the new parameters. Ranks exchange their parts themselves.
A parameter's elements, in order, are divided into equal parts, one per rank; the last part is
filled up with zeros.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from ogive.autograd import no_grad
from ogive.errors import ArgumentError, ArgumentTypeError
from ogive.tensor.core import to_tensor
from ogive.tensor.elementwise.complex_numbers import view_as_complex, view_as_real
from ogive.tensor.mesh import MeshAxis
from ogive.tensor.tensor import Tensor


@runtime_checkable
class RankParts(Protocol):
    """A group of ranks that keep parts of tensors (`distributed.Group`)."""

    def own_part(self, tensor: Tensor) -> Tensor:
        """This rank's part of a tensor's elements, as a vector."""

    def join_parts(self, parts: Sequence[Tensor], shapes: Sequence[Any]) -> list[Tensor]:
        """Tensors of the given shapes, joined from the parts of all ranks."""


StateParts = MeshAxis | RankParts
"""The types of `shard`."""


class Whole:
    """State that is placed as its parameter is."""

    ranks = False

    def place(self, value: Tensor, parameter: Tensor) -> Tensor:
        """Place state that has the parameter's shape."""
        return value.shard_like(parameter)

    def own(self, tensor: Tensor) -> Tensor:
        """The part of a parameter, or of its gradient, that this process changes. Complex numbers
        are pairs of floats there, each a parameter of its own, as in PyTorch."""
        return view_as_real(tensor) if tensor.dtype.is_complex else tensor

    def value_of(self, own: Tensor, parameter: Tensor) -> Tensor:
        """The new value of a parameter, from that of its part."""
        return view_as_complex(own) if parameter.dtype.is_complex else own

    def join(self, new: Sequence[tuple[Tensor, Tensor]]) -> Iterable[tuple[Tensor, Tensor]]:
        """Parameters with their whole new values, from the parts that this process computed."""
        return new

    def whole_state(self, own: Mapping[str, Tensor], parameter: Tensor) -> Mapping[str, Tensor]:
        """The whole state, for saving."""
        return own

    def own_state(self, saved: Any, kept: Tensor, parameter: Tensor) -> Any:
        """The part of saved state that this process keeps."""
        return saved


class OverMesh(Whole):
    """State that is divided along an axis of a mesh."""

    def __init__(self, axis: MeshAxis) -> None:
        self._axis = axis

    def place(self, value: Tensor, parameter: Tensor) -> Tensor:
        return self._axis.divide(value.shard_like(parameter))


class OverRanks(Whole):
    """State of this rank's part only."""

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
            f'{name}: shard must be an axis of a mesh, such as mesh["data"], or a group of ranks, '
            f"not {shard!r}"
        )
    if not is_elementwise:
        raise ArgumentError(
            f"{name}: the update of an element depends on other elements of its parameter, which "
            "other ranks would have; shard over an axis of a Mesh, or not at all"
        )
    return OverRanks(shard)
