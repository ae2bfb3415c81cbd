"""Groups of ranks, for exchanges in which only some ranks take part."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ogive.compiler.ir.dtype import DType
from ogive.distributed.exchanges import exchange, settle_gather, start_gather
from ogive.distributed.rank_calls import Call
from ogive.distributed.ranks import Ranks
from ogive.distributed.world import rank, size, world
from ogive.errors import ArgumentError, nearest, user_origin
from ogive.tensor.core import to_integer
from ogive.tensor.creation.constructors import zeros
from ogive.tensor.mesh import checked_axes
from ogive.tensor.movement.joining import cat
from ogive.tensor.tensor import Tensor


class Group:
    """A group of ranks. `new_group` makes one, and `RankMesh` one for each axis.

    `ranks` are their numbers among all ranks, in order. `rank` is the number of this process in the
    group, or None if it is not a member.
    """

    def __init__(self, ranks: tuple[int, ...], members: Ranks | None) -> None:
        self.ranks = ranks
        self.members = members

    @property
    def size(self) -> int:
        """How many ranks there are in the group."""
        return len(self.ranks)

    @property
    def rank(self) -> int | None:
        """The number of this process in the group; None if it is not a member."""
        own = rank()
        return self.ranks.index(own) if own in self.ranks else None

    def own_part(self, tensor: Tensor) -> Tensor:
        """Return this rank's share of a tensor's elements, flat. The last share is zero-padded.

        >>> ogive.distributed.new_group([0]).own_part(Tensor([[1, 2], [3, 4]])).tolist()
        [1, 2, 3, 4]
        """
        place, flat = self.rank, tensor.reshape(-1)
        if place is None:
            raise ArgumentError(f"rank {rank()} is not in the group of {list(self.ranks)}")
        length = -(-flat.shape[0] // self.size)
        missing = length * self.size - flat.shape[0]
        if missing:
            flat = cat([flat, zeros(missing, dtype=flat.dtype, device=flat.device)])
        return flat[place * length : (place + 1) * length]

    def join_parts(self, parts: Sequence[Tensor], shapes: Sequence[Any]) -> list[Tensor]:
        """Join the parts of all ranks, as `own_part` returns them, to tensors of these shapes.

        All parts of one dtype are sent in one message.
        """
        members = members_of(self, "join_parts")
        whole: dict[int, Tensor] = {}
        by_dtype: dict[DType, list[int]] = {}
        for number, part in enumerate(parts):
            by_dtype.setdefault(part.dtype, []).append(number)
        for dtype, numbers in by_dtype.items():
            message = cat([parts[number] for number in numbers])
            text = f"join_parts of {len(numbers)} of {dtype.name}, {message.shape[0]} elements"
            call = Call(text, user_origin(), True)
            rows = message.reshape(1, -1)
            if members is not None:
                shape = (members.size, message.shape[0])
                rows = exchange(members, call, message, shape, start_gather, settle_gather)
            start = 0
            for number in numbers:
                length = parts[number].shape[0]
                flat = rows[:, start : start + length].reshape(-1)
                whole[number] = flat[: math.prod(shapes[number])].reshape(shapes[number])
                start += length
        return [whole[number] for number in range(len(parts))]

    def __repr__(self) -> str:
        return f"Group({', '.join(map(str, self.ranks))})"


def new_group(ranks: Iterable[int] | None = None) -> Group:
    """Make a group of ranks, for exchanges in which only they take part.

    All ranks call it with the same `ranks`, also those that are not in the group. By default the
    group is of all ranks.

    >>> group = ogive.distributed.new_group([0])
    >>> group.size, ogive.distributed.all_reduce(Tensor([1, 2]), group=group).tolist()
    (1, [1, 2])

    Raises `ArgumentError` for unknown ranks or none, and `DistributedError` if ranks call it with
    different `ranks`.
    """
    count = size()
    given = range(count) if ranks is None else [to_integer(each, "new_group") for each in ranks]
    chosen = tuple(sorted(set(given)))
    if not chosen or not 0 <= chosen[0] <= chosen[-1] < count:
        raise ArgumentError(
            f"new_group: ranks are {list(chosen)}, and must be some of 0 to {count - 1}"
        )
    everybody = world.ranks()
    if everybody is None:
        return Group(chosen, None)
    call = Call(f"new_group({list(chosen)})", user_origin())
    colors = [0 if each in chosen else None for each in range(count)]
    return Group(chosen, everybody.divide(call, colors))


class RankMesh:
    """All ranks as a grid with named axes, in row-major order.

    `mesh["data"]` is the group of the ranks along that axis through this one. All ranks make the
    mesh.

    >>> mesh = ogive.distributed.RankMesh(("data", 1), ("model", 1))
    >>> mesh["model"].size, mesh.place("data")
    (1, 0)

    Raises `ArgumentError` if there is another number of ranks, or if a name comes twice.
    """

    def __init__(self, *axes: tuple[str, int]) -> None:
        self.sizes = dict(checked_axes(axes))
        count = math.prod(self.sizes.values())
        if count != size():
            shown = ", ".join([f"{name}={length}" for name, length in self.sizes.items()])
            raise ArgumentError(
                f"RankMesh: a mesh of {shown} takes {count} ranks, and there are {size()}"
            )
        call = Call(f"RankMesh{axes}", user_origin())
        self._groups = {name: self._line(name, call) for name in self.sizes}

    def _places(self, number: int) -> dict[str, int]:
        """The position of a rank along each axis."""
        places: dict[str, int] = {}
        for name in reversed(self.sizes):
            number, places[name] = divmod(number, self.sizes[name])
        return places

    def _line(self, axis: str, call: Call) -> Group:
        """Make the group of the ranks along an axis through this one."""
        lines: dict[tuple[int, ...], list[int]] = {}
        colors: list[int | None] = []
        for number in range(size()):
            places = self._places(number)
            line = tuple([place for name, place in places.items() if name != axis])
            lines.setdefault(line, []).append(number)
            colors.append(list(lines).index(line))
        own = next(line for line in lines.values() if rank() in line)
        everybody = world.ranks()
        return Group(tuple(own), None if everybody is None else everybody.divide(call, colors))

    def __getitem__(self, axis: str) -> Group:
        if axis not in self._groups:
            known = list(self._groups)
            raise ArgumentError(f"{self} has no axis {axis!r}{nearest(str(axis), known)}")
        return self._groups[axis]

    def place(self, axis: str) -> int:
        """The position of this rank along an axis."""
        rank = self[axis].rank
        assert rank is not None, "a rank is a member of its own groups"
        return rank

    def __repr__(self) -> str:
        return f"RankMesh({', '.join([f'{name}={size}' for name, size in self.sizes.items()])})"


def members_of(group: Group | None, name: str) -> Ranks | None:
    """Return the ranks of a group, or all ranks; None if this process is the only one.

    Raises `ArgumentError` if this process is not in the group.
    """
    if group is None:
        return world.ranks()
    if not isinstance(group, Group):
        raise ArgumentError(
            f"{name}: group must come from new_group(), or be None for all ranks, not {group!r}"
        )
    if group.rank is None:
        raise ArgumentError(
            f"{name}: rank {rank()} is not in the group of {list(group.ranks)}; only its members "
            "call it"
        )
    return group.members if group.size > 1 else None


def to_rank(given: int, name: str, count: int) -> int:
    """Return the number of one of `count` ranks. Raises `ArgumentError`."""
    number = to_integer(given, name)
    if not 0 <= number < count:
        raise ArgumentError(f"{name} is {number}, and the ranks are 0 to {count - 1}")
    return number
