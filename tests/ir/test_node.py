"""Interning, identity, content keys, and graphs of any depth."""

from __future__ import annotations

import gc
import math
import os
import struct
import subprocess
import sys
import threading

import pytest

from ogive.ir.computed_properties import computed
from ogive.ir.dtype import bool_, float32, float64, index, int32, int64
from ogive.ir.node import UOp
from ogive.ir.node_table import gc_dead_refs, live_uop_ids
from ogive.ir.ops import Op
from ogive.ir.printer import format_node, format_tree
from ogive.ir.traversal import substitute, walk

DEPTH = 100_000


def chain(length: int, value: float = 1.0) -> UOp:
    one = UOp.const(float32, value)
    node = UOp(Op.PARAM, float32, (), (0, 4))
    for _ in range(length):
        node = UOp(Op.ADD, float32, (node, one))
    return node


def test_the_same_node_is_the_same_object() -> None:
    assert chain(10) is chain(10)


def test_threads_building_the_same_nodes_get_the_same_objects() -> None:
    count, rounds = 8, 30
    for round_number in range(rounds):
        barrier = threading.Barrier(count)
        made: list[list[UOp]] = [[] for _ in range(count)]

        def build(
            mine: list[UOp],
            barrier: threading.Barrier = barrier,
            value: float = 1000.0 + round_number,
        ) -> None:
            barrier.wait()
            mine.extend(chain(length, value) for length in range(20))

        threads = [threading.Thread(target=build, args=(mine,)) for mine in made]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for same in zip(*made, strict=True):
            assert len({id(node) for node in same}) == 1


def test_threads_building_and_dropping_never_leave_two_of_a_kind() -> None:
    stop = threading.Event()
    failures: list[str] = []

    def churn() -> None:
        while not stop.is_set():
            first = UOp.const(float64, 424242.0)
            second = UOp.const(float64, 424242.0)
            if first is not second:
                failures.append("two nodes of one identity are alive")
            del first, second

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=churn) for _ in range(4)]
    try:
        for thread in threads:
            thread.start()
        stop.wait(0.5)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert not failures


def test_a_property_that_another_thread_fills_in_first_is_read_from_the_node() -> None:
    class Watched(UOp):
        __slots__ = ("_height",)

        _height: int

        @computed
        def height(self: UOp) -> int:
            if not self.src:
                top._height = 2  # as a thread would that came by in the meantime
                return 0
            return 1 + max(source.height for source in self.src if isinstance(source, Watched))

    low = Watched(Op.UNIQUE, arg="low")
    middle = Watched(Op.AFTER, src=(low,))
    top = Watched(Op.AFTER, src=(middle,))
    assert top.height == 2
    assert middle.height == 1


def test_a_dropped_node_goes_with_the_children_only_it_kept() -> None:
    kept = UOp.const(float32, 77.25)
    dropped = UOp(Op.ADD, float32, (kept, UOp.const(float32, 78.25)))
    ids = {dropped.id, dropped.src[1].id}
    assert ids <= set(live_uop_ids())
    del dropped
    assert not ids & set(live_uop_ids())
    assert kept.id in live_uop_ids()
    assert gc_dead_refs() == 0


def test_ids_are_monotonic_and_never_reused() -> None:
    first = UOp.const(float32, 5150.5)
    before = first.id
    del first
    again = UOp.const(float32, 5150.5)
    assert again.id > before


def test_constants_are_told_apart_by_bits_and_dtype() -> None:
    assert UOp.const(float32, 0.0) is not UOp.const(float32, -0.0)
    assert UOp.const(bool_, True) is not UOp.const(int32, 1)
    assert UOp.const(int32, 1) is not UOp.const(int64, 1)
    assert UOp.const(int32, True) is UOp.const(int32, 1)
    assert UOp.const(float32, 0.1) is UOp.const(float32, UOp.const(float32, 0.1).arg)
    assert UOp.const(float32, 0.0).content_key != UOp.const(float32, -0.0).content_key


def test_nan_payloads_are_told_apart() -> None:
    quiet = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000000))[0]
    marked = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))[0]
    assert UOp.const(float64, quiet) is not UOp.const(float64, marked)
    assert UOp.const(float64, marked) is UOp.const(float64, marked)
    assert math.isnan(UOp.const(float64, marked).arg)


def test_fill_values_of_padding_are_told_apart_by_bits() -> None:
    node = UOp(Op.PARAM, float32, (), (0, 4))
    padded = [
        UOp(Op.PAD, float32, (node,), (((1, 0),), fill)) for fill in (0.0, -0.0, math.nan)
    ]
    assert len(set(padded)) == 3
    assert len({pad.content_key for pad in padded}) == 3
    assert UOp(Op.PAD, float32, (node,), (((1, 0),), float("nan"))) is padded[2]


def test_the_tag_is_identity_and_metadata_is_not() -> None:
    node = chain(2)
    tagged = node.with_tag("mine")
    assert tagged is not node
    assert tagged is node.with_tag("mine")
    assert tagged.content_key == node.content_key
    noted = node.with_metadata("a note")
    assert noted is not node
    assert noted is not node.with_metadata("a note")
    assert noted.id != node.id
    assert noted.content_key == node.content_key
    assert noted.find_metadata(str) == "a note"
    assert noted.find_metadata(int) is None
    assert chain(2) is node


def test_metadata_is_carried_over_by_replace() -> None:
    noted = chain(1).with_metadata("a note")
    changed = noted.replace(src=(noted.src[1], noted.src[1]))
    assert changed.find_metadata(str) == "a note"


def test_two_uniques_are_never_merged() -> None:
    assert UOp.unique() is not UOp.unique()


_PROGRAM = """
from ogive.ir.dtype import float32, index
from ogive.ir.node import UOp
from ogive.ir.ops import Op
for unrelated in range({unrelated}):
    UOp.const(float32, unrelated)
extent = UOp.const(index, 8)
i, j = [UOp(Op.RANGE, index, (extent,), (n, None)) for n in {order}][::{step}]
value = UOp(Op.CAST, float32, (i * 4 + j + (j * 3 + i) // 5,))
print(UOp(Op.ADD, float32, (value, UOp.const(float32, -0.0))).content_key.hex())
"""


def test_content_keys_agree_across_processes_hash_seeds_and_build_order() -> None:
    keys = set()
    for seed, unrelated, order, step in [
        (0, 0, "(0, 1)", 1),
        (1, 9, "(1, 0)", -1),
        (7, 50, "(0, 1)", 1),
    ]:
        program = _PROGRAM.format(unrelated=unrelated, order=order, step=step)
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True, text=True, env=environment, check=True,
        )  # fmt: skip
        keys.add(done.stdout.strip())
    assert len(keys) == 1
    assert len(keys.pop()) == 32


def test_a_chain_of_100_000_nodes_is_ordinary() -> None:
    root = chain(DEPTH, 3.5)
    first = root.id
    assert len(walk((root,))) == DEPTH + 2
    assert len(root.content_key) == 16
    assert root.shape == (4,)
    assert root.ranges == frozenset()
    assert not root.has_index
    assert len(format_node(root)) < 200
    assert format_tree(root).count("\n") == DEPTH + 1
    (replaced,) = substitute((root,), {UOp.const(float32, 3.5): UOp.const(float32, 4.5)})
    assert replaced is chain(DEPTH, 4.5)
    del root, replaced
    gc.collect()
    assert first not in live_uop_ids()


def test_substitution_revisits_replacements_unless_told_not_to() -> None:
    a, b, c = (UOp(Op.PARAM, float32, (), (slot, 4)) for slot in range(3))
    root = UOp(Op.ADD, float32, (a, b))
    assert substitute((root,), {a: b, b: c}) == (UOp(Op.ADD, float32, (c, c)),)
    grown = UOp(Op.ADD, float32, (a, c))
    once = substitute((root,), {a: grown}, revisit=False)
    assert once == (UOp(Op.ADD, float32, (grown, b)),)
    with pytest.raises(RecursionError, match="its own key"):
        substitute((root,), {a: grown})


def test_closed_ranges_are_not_used_ranges() -> None:
    i, j = (UOp(Op.RANGE, index, (UOp.const(index, 8),), (n, None)) for n in (0, 1))
    value = UOp(Op.CAST, float32, (i + j,))
    assert value.ranges == {i, j}
    assert UOp(Op.REDUCE, float32, (value, j), Op.ADD).ranges == {i}
