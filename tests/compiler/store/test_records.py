"""Records read back as they were written, or not at all."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.regions.slots import Slot
from ogive.compiler.store.code_records import CodeRecord, pack_code, unpack_code, unpack_ir
from ogive.compiler.store.content_keys import make_key
from ogive.compiler.store.encoding import CannotEncode, DamagedRecord, Writer
from ogive.compiler.store.records import (
    GraphRecord,
    KernelRecord,
    LaunchRecord,
    pack_graph,
    pack_kernel,
    unpack_graph,
    unpack_kernel,
)
from ogive.compiler.store.trace_records import (
    Place,
    ResultRecord,
    TraceRecord,
    pack_trace,
    unpack_trace,
)
from tests.raising import raises


def variable(name: str, low: int, high: int) -> UOp:
    return UOp(Op.VARIABLE, dtypes.index, (), (name, low, high))


N, M = variable("n", 1, 32), variable("m", 0, 7)
BOUNDS = {"n": (1, 32), "m": (0, 7)}


def number(value: int) -> UOp:
    return UOp.const(dtypes.index, value)


def expressions() -> list[int | UOp]:
    return [
        0,
        17,
        N,
        N * 3 + M,
        (N + 15) // 16,
        (N * 5) % 7 + (N + 1) // (M + 1),
        UOp(Op.WHERE, dtypes.index, (N.lt(4), N, M)),
        UOp(Op.MAXIMUM, dtypes.index, (N, M)),
        UOp(Op.WHERE, dtypes.index, (N.lt(9) & ~M.eq(2), number(3), N)),
    ]


def kernel(tiles: int | UOp, name: str = "elementwise_parallel8") -> KernelRecord:
    axes = (("parallel", 8), ("lane", 16))
    costs, code = (9, tiles, 4), make_key(b"code")
    return KernelRecord(name, axes, (0, 2), 1, dict(BOUNDS), tiles, 40, costs, code)


def graph(tiles: int | UOp = 5) -> GraphRecord:
    slots = (
        Slot(dtypes.float32, 12, 0),
        Slot(dtypes.bool_, 0, None),
        Slot(dtypes.bfloat16, 1 << 40, None, panel=True),
    )
    launches = (LaunchRecord(1, (2, 0), tiles, 3), LaunchRecord(0, (0, 1), 9, 1))
    kernels = (kernel(tiles), kernel(1, "other"))
    arrangement = (1, 0), (0, 1)
    return GraphRecord(kernels, launches, slots, (2, 0), dict(BOUNDS), *arrangement, (-1, 0, -1))


@pytest.mark.parametrize("tiles", expressions(), ids=str)
def test_kernels_and_graphs_survive_the_way(tiles: int | UOp) -> None:
    assert unpack_kernel(pack_kernel(kernel(tiles))) == kernel(tiles)
    assert unpack_graph(pack_graph(graph(tiles))) == graph(tiles)


def test_an_expression_reads_back_as_the_same_node() -> None:
    tiles = (N * 3 + M) // 4
    assert unpack_kernel(pack_kernel(kernel(tiles))).tiles is tiles


def test_code_survives_the_way() -> None:
    packed = pack_code("define void @f()", b"\x7fELF")
    record = unpack_code(packed)
    assert unpack_ir(record.ir) == "define void @f()"
    assert record == CodeRecord(record.ir, b"\x7fELF")


def test_an_expression_without_a_form_is_not_kept() -> None:
    with pytest.raises(CannotEncode):
        pack_kernel(kernel(UOp(Op.XOR, dtypes.index, (N, M))))
    with pytest.raises(CannotEncode):
        pack_kernel(kernel(variable("stranger", 0, 4)))


@pytest.mark.parametrize(
    "tiles",
    [-1, M - 8, UOp(Op.FLOORDIV, dtypes.index, (N, M)), UOp(Op.MOD, dtypes.index, (N, number(0)))],
    ids=["negative", "maybe negative", "maybe by zero", "by zero"],
)
def test_an_expression_that_could_fault_is_damaged(tiles: int | UOp) -> None:
    with pytest.raises(DamagedRecord):
        unpack_kernel(pack_kernel(kernel(tiles)))


def changed(**changes: Any) -> bytes:
    if "steps" in changes:
        numbers = tuple(range(len(changes["steps"])))
        changes |= {"order": numbers, "levels": numbers}
    return pack_graph(graph()._replace(**changes))


@pytest.mark.parametrize(
    "data",
    [
        changed(outputs=(3,)),
        changed(outputs=(-1,)),
        changed(slots=(Slot(dtypes.float32, -1, None),), outputs=(), steps=()),
        changed(slots=(Slot(dtypes.index, 1, None),), outputs=(), steps=()),
        changed(slots=(Slot(dtypes.float32, 1, None, 2),), outputs=(), steps=()),  # type: ignore[arg-type]
        changed(slots=(Slot(dtypes.float32, 1 << 60, None),), outputs=(), steps=()),
        changed(steps=(LaunchRecord(2, (0, 1), 1, 1),)),
        changed(steps=(LaunchRecord(0, (0, 3), 1, 1),)),
        changed(steps=(LaunchRecord(0, (0,), 1, 1),)),
        changed(steps=(LaunchRecord(0, (0, 1, 2), 1, 1),)),
        changed(steps=(LaunchRecord(0, (0, 1), 1, 0),)),
        changed(steps=(LaunchRecord(0, (0, 1), -2, 1),)),
        changed(kernels=(kernel(1)._replace(work=0), kernel(1))),
        changed(kernels=(kernel(1)._replace(name="no name"), kernel(1))),
        changed(kernels=(kernel(1)._replace(variables={"q": (0, 1)}), kernel(1))),
        changed(variables={"n": (1, 31), "m": (0, 7)}),
        changed(variables={"n": (5, 1), "m": (0, 7)}),
        changed(order=(0, 0)),
        changed(order=(0,)),
        changed(order=(0, 2)),
        changed(levels=(1, 0)),
        changed(levels=(0, 0, 1)),
        changed(levels=(0, 2)),
        changed(offsets=(-1, 0)),
        changed(offsets=(0, 0, -1)),
        changed(offsets=(-1, -1, -1)),
        changed(offsets=(-1, 64, -1)),
        changed(offsets=(-1, 0, 1 << 50)),
    ],
)
def test_what_makes_no_sense_is_damaged(data: bytes) -> None:
    with pytest.raises(DamagedRecord):
        unpack_graph(data)


def test_names_must_be_text() -> None:
    writer = Writer()
    writer.data(b"\xff\xfe")
    with raises(DamagedRecord, match="UTF-8"):
        unpack_kernel(writer.finish())


def test_code_must_be_there() -> None:
    with raises(DamagedRecord, match="no code"):
        unpack_code(pack_code("text", b""))


@pytest.mark.parametrize("length", [0, 1, 7, 8, 40, 200])
def test_a_record_cut_short_or_continued_is_damaged(length: int) -> None:
    data = pack_graph(graph((N + 15) // 16))
    for bad in (data[:length], data[: len(data) - 1 - length], data + bytes(1 + length)):
        with pytest.raises(DamagedRecord):
            unpack_graph(bad)


@pytest.mark.parametrize("seed", range(40))
def test_random_changes_give_a_record_or_an_error_of_ours(seed: int) -> None:
    generator = random.Random(seed)
    data = bytearray(pack_graph(graph((N * 3 + M) // 4)))
    for _ in range(generator.choice((1, 2, 20))):
        data[generator.randrange(len(data))] = generator.randrange(256)
    try:
        record = unpack_graph(bytes(data))
    except DamagedRecord:
        return
    assert all(slot < len(record.slots) for launch in record.steps for slot in launch.slots)


TRACE = TraceRecord(
    graph=make_key(b"graph"),
    inputs=2,
    captured=("weight", "layer/bias", "größe"),
    parameters=((0, Place("input", 1)), (3, Place("captured", 2)), (1, Place("constant", 0))),
    constants=(b"", b"1234"),
    results=(ResultRecord(0, (), dtypes.bool_), ResultRecord(2, (3, 0, 4), dtypes.float16)),
    returned=(Place("fresh", 1), Place("input", 0), Place("captured", 0)),
)


def test_a_captured_function_survives_the_way() -> None:
    assert unpack_trace(pack_trace(TRACE)) == TRACE


@pytest.mark.parametrize("changes", [
    {"inputs": 1}, {"captured": ()}, {"constants": ()}, {"results": ()},
    {"returned": (Place("fresh", 2),)},
    {"results": (ResultRecord(0, (1 << 40, 1 << 40), dtypes.bool_), TRACE.results[1])},
])  # fmt: skip
def test_a_captured_function_that_speaks_of_what_is_not_there_is_damaged(
    changes: dict[str, Any],
) -> None:
    with pytest.raises(DamagedRecord):
        unpack_trace(pack_trace(TRACE._replace(**changes)))


@pytest.mark.parametrize("seed", range(20))
def test_random_changes_of_a_captured_function_give_one_or_an_error_of_ours(seed: int) -> None:
    generator = random.Random(seed)
    data = bytearray(pack_trace(TRACE))
    for _ in range(generator.choice((1, 2, 20))):
        data[generator.randrange(len(data))] = generator.randrange(256)
    try:
        record = unpack_trace(bytes(data))
    except DamagedRecord:
        return
    known = {"input": record.inputs, "captured": len(record.captured), "fresh": len(record.results)}
    assert all(place.position < known[place.kind] for place in record.returned)


@pytest.mark.parametrize("seed", range(10))
def test_noise_is_no_record(seed: int) -> None:
    noise = random.Random(seed).randbytes(300)
    for unpack in (unpack_graph, unpack_kernel, unpack_code, unpack_trace):
        with pytest.raises(DamagedRecord):
            unpack(noise)
    with pytest.raises(DamagedRecord):
        unpack_ir(noise)
