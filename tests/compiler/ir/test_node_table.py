"""Interning: one object for each node, from any thread, for as long as somebody uses it."""

from __future__ import annotations

import math
import struct
import sys
import threading

from ogive.compiler.ir.dtype import bool_, float32, float64, int32, int64
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_parts.node_table import gc_dead_refs, live_uop_ids
from ogive.compiler.ir.ops import Op
from tests.compiler.ir.chains import chain


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
