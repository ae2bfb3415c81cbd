"""Graphs that span devices become one graph for each device, between copies."""

from __future__ import annotations

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.graph.divide_by_device import Part, divide_by_device


def parameter(number: int, device: str, count: int = 6) -> UOp:
    return UOp(Op.PARAM, dtypes.float32, (), (number, count, device))


def value(op: Op, *sources: UOp, arg: object = None) -> UOp:
    return UOp(op, sources[0].dtype, sources, arg)


def copied(node: UOp, device: str) -> UOp:
    return value(Op.COPY, node, arg=device)


def assigned(version: UOp, new: UOp) -> UOp:
    store = UOp(Op.ASSIGN, dtypes.void, (version, new))
    return UOp(Op.AFTER, version.dtype, (version, store))


def divided(*roots: UOp, devices: tuple[str, ...]) -> list[Part]:
    parts = divide_by_device(UOp(Op.SINK, dtypes.void, roots, devices))
    for part in parts:
        verify(part.sink, "parametric")
    return parts


def kept(value_there: UOp) -> UOp:
    return UOp(Op.CONTIGUOUS, value_there.dtype, (value_there,), ())


HERE, THERE = parameter(0, "CPU"), parameter(1, "CPU:1")
HALF = UOp.const(dtypes.float32, 0.5)


def test_a_graph_of_one_device_stays_as_it_is() -> None:
    for device in ("CPU", "CPU:1"):
        root = value(Op.EXP2, parameter(0, device))
        sink = UOp(Op.SINK, dtypes.void, (root,), (device,))
        assert divide_by_device(sink) == [Part(device, sink, (0,))]


def test_what_is_copied_is_kept_by_one_part_and_a_parameter_of_the_next() -> None:
    root = value(Op.ADD, copied(value(Op.EXP2, HERE), "CPU:1"), THERE)
    first, second = divided(root, devices=("CPU:1",))
    assert (first.device, first.sink.src, first.roots) == ("CPU", (kept(value(Op.EXP2, HERE)),), ())
    assert first.kept == (2,)
    arrived = copied(parameter(2, "CPU"), "CPU:1")
    assert (second.device, second.roots) == ("CPU:1", (0,))
    assert second.sink.src == (value(Op.ADD, arrived, THERE),)


def test_memory_as_it_stands_is_copied_without_a_part_of_its_own() -> None:
    (part,) = divided(value(Op.ADD, copied(HERE, "CPU:1"), THERE), devices=("CPU:1",))
    assert part.sink.src == (value(Op.ADD, copied(HERE, "CPU:1"), THERE),)


def test_roots_of_several_devices_are_roots_of_several_parts() -> None:
    roots = value(Op.EXP2, THERE), value(Op.EXP2, HERE), value(Op.SQRT, THERE)
    parts = divided(*roots, devices=("CPU:1", "CPU", "CPU:1"))
    assert {part.device: part.roots for part in parts} == {"CPU:1": (0, 2), "CPU": (1,)}


def test_constants_are_computed_by_each_part() -> None:
    roots = value(Op.MUL, HERE, HALF), value(Op.MUL, THERE, HALF)
    parts = divided(*roots, devices=("CPU", "CPU:1"))
    assert [part.sink.src for part in parts] == [(roots[0],), (roots[1],)]


def test_what_comes_back_is_computed_by_a_later_part_which_finds_what_was_kept() -> None:
    shared = value(Op.EXP2, HERE)
    there = value(Op.ADD, copied(shared, "CPU:1"), THERE)
    back = value(Op.MUL, copied(there, "CPU"), shared)
    parts = divided(back, devices=("CPU",))
    assert [part.device for part in parts] == ["CPU", "CPU:1", "CPU"]
    arrived = copied(parameter(3, "CPU:1"), "CPU")
    assert parts[2].sink.src == (value(Op.MUL, arrived, parameter(2, "CPU")),)


def test_a_file_is_read_where_it_is_used() -> None:
    file = parameter(2, "DISK")
    roots = value(Op.ADD, HERE, file), value(Op.ADD, THERE, file)
    parts = divided(*roots, devices=("CPU", "CPU:1"))
    here, there = [part.sink.src for part in parts]
    assert here == (value(Op.ADD, HERE, copied(file, "CPU")),)
    assert there == (value(Op.ADD, THERE, copied(file, "CPU:1")),)


def test_a_later_part_reads_the_version_that_an_earlier_one_assigned() -> None:
    new = assigned(HERE, value(Op.EXP2, HERE))
    later = value(Op.ADD, copied(value(Op.SQRT, THERE), "CPU"), new)
    parts = divided(new, later, devices=("CPU", "CPU"))
    last = parts[-1]
    arrived = copied(parameter(2, "CPU:1"), "CPU")
    assert last.roots == (1,)
    assert last.sink.src == (value(Op.ADD, arrived, HERE),)


def test_a_later_part_reads_a_copy_of_the_version_that_an_earlier_one_overwrote() -> None:
    new = assigned(HERE, value(Op.EXP2, HERE))
    later = value(Op.ADD, copied(value(Op.SQRT, THERE), "CPU"), HERE)
    parts = divided(new, later, devices=("CPU", "CPU"))
    (storing,) = [part for part in parts if 0 in part.roots]
    assert kept(HERE) in storing.sink.src
    (number,) = storing.kept
    assert parameter(number, "CPU") in parts[-1].sink.src[0].src
