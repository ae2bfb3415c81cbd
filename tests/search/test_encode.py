"""What goes through the pipe and onto the disk reads back as it was, or not at all."""

from __future__ import annotations

import contextlib
import copy
import json
import math
import random
from typing import Any

import pytest

import ogive
from ogive import Tensor
from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.symbolic.variable import Variable
from ogive.passes.place.placement import Placement
from ogive.search.encode import (
    HEADER_BYTES,
    CannotEncode,
    DamagedMessage,
    Result,
    decode_graph,
    decode_placement,
    decode_result,
    decode_target,
    encode_graph,
    encode_placement,
    encode_result,
    encode_target,
    pack_message,
    placement_key,
    unpack_body,
    unpack_header,
)
from tests.search.kernels import TARGET, data, loops

KERNELS = {
    "elementwise": lambda: (data(7, 19) * 2.5 + data(19)).exp(),
    "softmax": lambda: data(6, 27).softmax(-1),
    "product": lambda: data(9, 11) @ data(11, 14),
    "nan": lambda: ogive.where(data(5) > 0, math.nan, -0.0) + data(5),
    "bool": lambda: (data(5, 40) > 5).any(-1),
    "division": lambda: Tensor([3, 4]) // Tensor([1, 2]),
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_graph_comes_back_as_the_same_nodes(name: str) -> None:
    root = loops(KERNELS[name]())
    through_a_pipe = json.loads(json.dumps(encode_graph(root)))
    assert decode_graph(through_a_pipe) is root


def test_a_symbolic_graph_comes_back_too() -> None:
    length = Variable("N", 1, 32).bind(4)
    root = loops(data(32, 3)[:length] * 2)
    assert decode_graph(json.loads(json.dumps(encode_graph(root)))) is root


def test_an_argument_of_unknown_type_cannot_be_sent() -> None:
    node = UOp(Op.CHECK, dtypes.float32, (UOp.const(dtypes.float32, 1.0),), frozenset())
    with pytest.raises(CannotEncode, match="frozenset"):
        encode_graph(node)


def test_a_damaged_graph_is_refused_or_still_a_graph() -> None:
    good = encode_graph(loops(KERNELS["softmax"]()))
    generator = random.Random(1)
    for _ in range(300):
        bad: list[Any] = copy.deepcopy(good)
        node = generator.choice(bad)
        node[generator.randrange(4)] = generator.choice(
            [None, -1, 10**9, "ADD", "SINK", "float32", [0], [-1], [[]], {"op": 1}, {}, 1.5]
        )
        with contextlib.suppress(DamagedMessage):
            assert isinstance(decode_graph(bad), UOp)


PLACEMENTS = [
    Placement(),
    Placement({0: 16}, {1: 4, 0: 2}, (1, 0), 1),
    Placement({}, {2: 9}, (0, 1, 2), 3),
]


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_placement_comes_back(placement: Placement) -> None:
    assert decode_placement(json.loads(json.dumps(encode_placement(placement)))) == placement


def test_a_count_of_one_is_no_difference() -> None:
    plain, with_ones = Placement({0: 4}), Placement({0: 4, 1: 1}, {0: 1})
    assert placement_key(plain) == placement_key(with_ones)


@pytest.mark.parametrize(
    "bad",
    [
        None,
        [],
        [[], [], []],
        [[[0]], [], [], 0],
        [[[0, 1024]], [], [], 0],
        [[], [[0, 100], [1, 100]], [], 0],
        [[], [], [0.5], 0],
        [[], [], [-1], 0],
        [[], [], list(range(100)), 0],
        [[], [], [], True],
    ],
)
def test_a_senseless_placement_is_refused(bad: Any) -> None:
    with pytest.raises(DamagedMessage):
        decode_placement(bad)


def test_a_target_comes_back() -> None:
    assert decode_target(json.loads(json.dumps(encode_target(TARGET)))) == TARGET


@pytest.mark.parametrize("change", [{"cpu": 1}, {"masked": 1}, {"l2_bytes": "many"}])
def test_a_senseless_target_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(DamagedMessage, match=next(iter(change))):
        decode_target({**encode_target(TARGET), **change})


@pytest.mark.parametrize("taken", [None, 0.25])
def test_a_result_comes_back(taken: float | None) -> None:
    result = Result(PLACEMENTS[1], 2.5, True, taken)
    assert decode_result(encode_result(result)) == result


def test_a_complete_result_suffices_and_a_cut_one_for_as_many_seconds() -> None:
    cut, complete = Result(Placement(), 2.0, False), Result(Placement(), 2.0, True)
    assert cut.suffices(2.0) and not cut.suffices(3.0)
    assert complete.suffices(1e9)


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", b'{"placement": [[], [], [], 0]}'])
def test_a_damaged_result_is_refused(data: bytes) -> None:
    with pytest.raises(DamagedMessage):
        decode_result(data)


def test_a_message_with_a_wrong_bit_is_refused() -> None:
    packed = pack_message({"do": "inspect"})
    length, checksum = unpack_header(packed[:HEADER_BYTES])
    assert unpack_body(packed[HEADER_BYTES:], checksum) == {"do": "inspect"}
    assert length == len(packed) - HEADER_BYTES
    with pytest.raises(DamagedMessage):
        unpack_body(packed[HEADER_BYTES:-1] + b"!", checksum)
    with pytest.raises(DamagedMessage):
        unpack_header(b"XXXX" + packed[4:HEADER_BYTES])
    with pytest.raises(DamagedMessage):
        unpack_header(packed[:4] + b"\xff" * 8)
