"""What goes through the pipe and onto the disk reads back as it was, or not at all."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import random
from typing import Any

import pytest

import ogive
from ogive import Tensor
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.symbolic.variable import Variable
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.placement_encoding import pack_placement, placement_key
from ogive.compiler.search.search_result import Result, pack_result, unpack_result
from ogive.compiler.search.worker_messages import (
    HEADER_BYTES,
    MESSAGES,
    Answer,
    Compare,
    Comparison,
    Compile,
    Done,
    Inspect,
    Inspection,
    Open,
    Refused,
    Request,
    Time,
    Timing,
    check_body,
    frame,
    pack_message,
    pack_request,
    unpack_header,
    unpack_message,
    unpack_request,
)
from ogive.compiler.store.encoding import CannotEncode, DamagedRecord, Writer
from ogive.compiler.targets.target import Target
from tests.compiler.search.kernels import TARGET, data, loops, placement_from, region_of
from tests.raising import raises

KERNELS = {
    "elementwise": lambda: (data(7, 19) * 2.5 + data(19)).exp(),
    "softmax": lambda: data(6, 27).softmax(-1),
    "product": lambda: data(9, 11) @ data(11, 14),
    "nan": lambda: ogive.where(data(5) > 0, math.nan, -0.0) + data(5),
    "bool": lambda: (data(5, 40) > 5).any(-1),
    "division": lambda: Tensor([3, 4]) // Tensor([1, 2]),
    "large number": lambda: Tensor([3, 4]).cast("uint64") + (2**64 - 7),
}


def sent(root: UOp, target: Target = TARGET) -> Any:
    """What arrives of a kernel that is sent to a worker."""
    return unpack_message(pack_message(Open(root, target, 2)))


@pytest.mark.parametrize("name", KERNELS)
def test_a_graph_comes_back_as_the_same_nodes(name: str) -> None:
    root = loops(KERNELS[name]())
    assert sent(root).loops is root


def test_a_symbolic_graph_comes_back_too() -> None:
    length = Variable("N", 1, 32).bind(4)
    root = loops(data(32, 3)[:length] * 2)
    assert sent(root).loops is root


def test_an_argument_of_unknown_type_cannot_be_sent() -> None:
    node = UOp(Op.CHECK, dtypes.float32, (UOp.const(dtypes.float32, 1.0),), frozenset())
    with raises(CannotEncode, match="frozenset"):
        sent(node)


def test_a_damaged_graph_is_refused_or_still_a_graph() -> None:
    good = pack_message(Open(loops(KERNELS["softmax"]()), TARGET, 2))
    generator = random.Random(1)
    for _ in range(600):
        bad = bytearray(good)
        for _ in range(generator.choice((1, 1, 8))):
            bad[generator.randrange(1, len(bad))] = generator.choice((0, 1, 7, 128, 255))
        with contextlib.suppress(DamagedRecord):
            assert isinstance(unpack_message(bytes(bad)), Open)


def test_a_graph_of_another_dialect_is_refused() -> None:
    with raises(DamagedRecord, match="is not valid"):
        sent(region_of(data(4) + 1))


PLACEMENTS = [
    Placement(),
    Placement({0: 16}, {1: 4, 0: 2}, (1, 0), 1),
    Placement({}, {2: 9}, (0, 1, 2), 3),
]


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_placement_comes_back(placement: Placement) -> None:
    assert placement_from(pack_placement(placement)) == placement


def test_a_count_of_one_is_no_difference() -> None:
    plain, with_ones = Placement({0: 4}), Placement({0: 4, 1: 1}, {0: 1})
    assert placement_key(plain) == placement_key(with_ones)


@pytest.mark.parametrize(
    "bad",
    [
        Placement({0: 1024}),
        Placement({}, {0: 100, 1: 100}),
        Placement({}, {}, (-1,)),
        Placement({}, {}, tuple(range(100))),
        Placement({-1: 4}),
        Placement(dict.fromkeys(range(100), 2)),
        Placement({}, {}, (), 100),
    ],
)
def test_a_senseless_placement_is_refused(bad: Placement) -> None:
    with pytest.raises(DamagedRecord):
        placement_from(pack_placement(bad))


def test_an_axis_that_is_placed_twice_is_refused() -> None:
    writer = Writer()
    for numbers in ((0, 0), (4, 8), (), (), ()):
        writer.numbers(numbers)
    writer.number(0)
    with raises(DamagedRecord, match="axes and counts"):
        placement_from(writer.finish())


def test_a_target_comes_back() -> None:
    arrived = sent(loops(data(4) + 1)).target
    assert dataclasses.asdict(arrived) == dataclasses.asdict(TARGET)


@pytest.mark.parametrize("change", [{"l2_bytes": -1}, {"cores": 1 << 60}, {"cpu": "x" * 70_000}])
def test_a_senseless_target_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(DamagedRecord):
        sent(loops(data(4) + 1), dataclasses.replace(TARGET, **change))


@pytest.mark.parametrize("taken", [None, 0.25])
def test_a_result_comes_back(taken: float | None) -> None:
    result = Result(PLACEMENTS[1], 2.5, True, taken)
    assert unpack_result(pack_result(result)) == result


def test_a_complete_result_suffices_and_a_cut_one_for_as_many_seconds() -> None:
    cut, complete = Result(Placement(), 2.0, False), Result(Placement(), 2.0, True)
    assert cut.suffices(2.0) and not cut.suffices(3.0)
    assert complete.suffices(1e9)


GOOD = pack_result(Result(PLACEMENTS[1], 2.5, True, 0.25))


@pytest.mark.parametrize(
    "data", [b"", b"{}", GOOD[:-1], GOOD + b"\0", pack_result(Result(Placement(), math.nan, True))]
)
def test_a_damaged_result_is_refused(data: bytes) -> None:
    with pytest.raises(DamagedRecord):
        unpack_result(data)


REQUESTS: list[Request] = [
    Inspect(PLACEMENTS[1], 20_000),
    Compile(PLACEMENTS[0], 20_000),
    Time(PLACEMENTS[1], 20_000, 1 << 40, None),
    Time(PLACEMENTS[1], 20_000, 1 << 40, 0.5),
    Compare(PLACEMENTS[0], PLACEMENTS[1], 20_000, 1 << 40),
]
ANSWERS: list[Answer] = [
    Refused("it is too large"),
    Done(),
    Inspection(100, 1 << 70, 64, "abc", (("ADD", 31), ("MUL", 4))),
    Timing(0.25),
    Comparison(((0.5, 0.25), (1.0, 1.5))),
]


@pytest.mark.parametrize("message", [*REQUESTS, *ANSWERS], ids=repr)
def test_a_message_comes_back(message: Request | Answer) -> None:
    arrived = unpack_message(pack_message(message))
    assert arrived == message and type(arrived) is type(message)


def test_every_kind_of_message_is_tested() -> None:
    assert {type(message) for message in [*REQUESTS, *ANSWERS]} | {Open} == set(MESSAGES)


@pytest.mark.parametrize("answer", [Timing(-1.0), Timing(math.inf), Comparison(())])
def test_an_answer_that_makes_no_sense_is_refused(answer: Answer) -> None:
    with pytest.raises(DamagedRecord):
        unpack_message(pack_message(answer))


def test_a_request_says_how_long_it_may_take() -> None:
    assert unpack_request(pack_request(REQUESTS[0], 0.25)) == (REQUESTS[0], 0.25)
    with pytest.raises(DamagedRecord):
        unpack_request(pack_request(REQUESTS[0], 0.0))


def test_an_answer_is_no_request() -> None:
    body = pack_request(REQUESTS[0], 0.25)[:8] + pack_message(Done())
    with raises(DamagedRecord, match="is not a request"):
        unpack_request(body)


def test_a_message_with_a_wrong_bit_is_refused() -> None:
    packed = frame(pack_message(Refused("it")))
    length, checksum = unpack_header(packed[:HEADER_BYTES])
    assert unpack_message(check_body(packed[HEADER_BYTES:], checksum)) == Refused("it")
    assert length == len(packed) - HEADER_BYTES
    with pytest.raises(DamagedRecord):
        check_body(packed[HEADER_BYTES:-1] + b"!", checksum)
    with pytest.raises(DamagedRecord):
        unpack_header(b"XXXX" + packed[4:HEADER_BYTES])
    with pytest.raises(DamagedRecord):
        unpack_header(packed[:4] + b"\xff" * 8)
