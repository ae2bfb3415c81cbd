"""Tiles of attention: each is done, and blocks of a causal one take equally long."""

from __future__ import annotations

import pytest

from ogive.compiler.devices.cuda.attention.region_attention import Bound
from ogive.compiler.devices.cuda.attention.tile_places import find_end_of_numbers, find_place
from ogive.compiler.devices.cuda.tensor_cores.kernel_text import Index, KernelText
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp

BLOCKS = 5
TILE_ROWS = 128


class Numbers(KernelText):
    """Text that computes at once: every register is a number. `names` has those of parameters."""

    def __init__(self, names: dict[str, int]) -> None:
        super().__init__("numbers", [], 32)
        self.names = names

    def special(self, name: str) -> str:
        return str(self.names[name])

    def instruction(self, text: str) -> str:
        operation, *operands = text.replace(",", " ").split()
        kinds = {"i1", "i32", "eq", "ult", "nuw", "nsw"}
        left, *rest = [self._value(each) for each in operands if each not in kinds]
        if operation == "select":
            return str(rest[0] if left else rest[1])
        right = rest[0]
        done = {
            "add": left + right, "sub": left - right, "mul": left * right,
            "udiv": left // right if right else 0, "urem": left % right if right else 0,
            "icmp": int(left == right), "lshr": left >> right if 0 <= right < 32 else 0,
            "and": left & right,
        }  # fmt: skip
        return str(done[operation])

    def intrinsic(self, kind: str, name: str, types: list[str], values: list[str]) -> str:
        numbers = [self._value(each) for each in values]
        return str(max(numbers) if "max" in name else min(numbers))

    def _value(self, text: str) -> int:
        return self.names[text[1:]] if text.startswith("%") else int(text)


def _tiles(
    heads: int, row_tiles: int, turns: int, slope: int | None
) -> list[list[tuple[int, int]]]:
    """The head and the tile of rows that each block works on, in order."""
    units = -(-row_tiles // turns)
    names: dict[str, int] = {
        "rows": row_tiles * TILE_ROWS, "columns": row_tiles * TILE_ROWS, "batch1": 1,
        "batch2": heads, "group": 2 if heads % 2 == 0 else 1, "row_tiles": row_tiles,
        "turns": turns, "row_units": units, "all_units": units * heads,
        "nctaid.x": min(BLOCKS, units * heads),
    }  # fmt: skip
    found: list[list[tuple[int, int]]] = []
    always = UOp.const(dtypes.bool_, True)
    first = 0 if slope == 1 else row_tiles * TILE_ROWS
    bound = None if slope is None else Bound(always, first, slope)
    for block in range(names["nctaid.x"]):
        text = Numbers(names | {"ctaid.x": block})
        end = int(find_end_of_numbers(text))
        done: list[tuple[int, int]] = []
        for number in range(block, end, names["nctaid.x"]):
            place = find_place(text, bound, 128, str(number))
            batch: tuple[Index, ...] = place.batch
            done.append((int(batch[2]), int(place.row) // TILE_ROWS))
        found.append(done)
    return found


@pytest.mark.parametrize("heads, row_tiles, turns", [(6, 8, 2), (3, 9, 2), (4, 5, 1), (1, 1, 1)])
@pytest.mark.parametrize("slope", [None, 1, -1])
def test_every_tile_is_done(heads: int, row_tiles: int, turns: int, slope: int | None) -> None:
    done = {place for block in _tiles(heads, row_tiles, turns, slope) for place in block}
    assert done == {(head, tile) for head in range(heads) for tile in range(row_tiles)}


def test_blocks_of_a_causal_attention_take_equally_long() -> None:
    columns = [sum([tile + 1 for _, tile in block]) for block in _tiles(10, 8, 2, 1)]
    assert columns == [8 * 9] * BLOCKS
