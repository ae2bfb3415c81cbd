"""Every pass keeps to its dialect, on programs of every kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ogive
from ogive import Config, Tensor
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dialects.verify import DIALECTS, verify
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.errors import VerifyError
from tests.compiler.passes.parametric import normalize
from tests.raising import raises


def data(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(1).standard_normal(shape).astype(np.float32))


def whole(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(1).integers(1, 9, shape).astype(np.int16))


def assigned() -> Tensor:
    x = data(6, 5).realize()
    x[1:] = x[:-1] * 2
    return x + 1


CORPUS: dict[str, Callable[[], Tensor]] = {
    "elementwise": lambda: (data(7, 9) * 2 + data(9)).exp(),
    "casts": lambda: data(5).cast("int32").cast("bfloat16").cast("bool").cast("float8_e4m3"),
    "bitcast": lambda: data(5).bitcast("int32") >> 3,
    "integers": lambda: (whole(7) // whole(7)) % 3 ^ 5,
    "shifts": lambda: whole(7) << 2,
    "powers": lambda: whole(7) ** 3,
    "movement": lambda: data(4, 6).T.flip(0).pad(((1, 0), (0, 2)))[::2].reshape(-1),
    "expand": lambda: data(1, 6).expand(5, 6).contiguous(),
    "where": lambda: ogive.where(data(4, 4) > 0, data(4, 4), 1.0),
    "cat": lambda: ogive.cat([data(2, 3), data(4, 3)]),
    "constant": lambda: ogive.full((3, 4), 2.5),
    "arange": lambda: ogive.arange(10) * 2,
    "eye": lambda: ogive.eye(4),
    "scalar": lambda: data(1).reshape(()) + 1,
    "reductions": lambda: data(8, 9).sum(0) + data(8, 9).max(),
    "bool reductions": lambda: (data(8, 9) > 0).all(-1),
    "argmax": lambda: data(8, 9).argmax(-1),
    "softmax": lambda: data(8, 9).softmax(-1),
    "layer norm": lambda: data(8, 9).layer_norm(9, data(9), data(9)),
    "product": lambda: data(33, 40) @ data(40, 64),
    "large product": lambda: data(64, 64) @ data(64, 128),
    "batched product": lambda: data(2, 3, 4) @ data(2, 4, 5),
    "attention": lambda: (data(2, 8, 4) @ data(2, 4, 8)).softmax(-1) @ data(2, 8, 4),
    "long reduction": lambda: ogive.ones((300, 300)).contiguous().sum(),
    "assignment": assigned,
    "rank 10": lambda: data(2, 1, 2, 1, 2, 1, 2, 1, 2, 1).permute(*range(9, -1, -1)).exp(),
    "empty": lambda: data(0, 3).pad(((1, 1), (0, 0))),
}


@pytest.mark.parametrize("name", CORPUS)
def test_a_verified_run_gives_the_same_result(name: str) -> None:
    wanted = CORPUS[name]().numpy()
    for config in (
        Config(verify=True, schedule_cache=False),
        Config(verify=True, kernel_node_limit=2),
        Config(verify=True, pack_operands=False),
    ):
        got = CORPUS[name]().realize(config).numpy()
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("dialect", ["tensor", "parametric"])
def test_a_verified_run_checks_the_graph_it_is_given(
    dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DIALECTS, dialect, {})
    with raises(VerifyError, match=f"in the {dialect} dialect"):
        (data(3) + 1).realize(Config(verify=True))
    with raises(VerifyError, match=f"in the {dialect} dialect"):
        ogive.jit(lambda x: x + 1, config=Config(verify=True))(data(3))


def test_memory_of_the_user_has_no_place_after_normalization() -> None:
    node = (data(3) + 1).node
    with raises(VerifyError, match="in the parametric dialect"):
        verify(node, "parametric")


def test_a_movement_op_has_no_place_among_loops() -> None:
    flat = UOp(Op.PARAM, dtypes.float32, (), (0, 6))
    with raises(VerifyError, match="RESHAPE in the loops dialect"):
        verify(UOp(Op.RESHAPE, dtypes.float32, (flat,), (2, 3)), "loops")


def test_equal_work_over_other_buffers_is_one_region() -> None:
    a, b, c = data(4, 5), data(4, 5), data(4, 5)
    first = normalize(((a * b).node,))
    second = normalize(((c * a).node,))
    assert first.sink is second.sink
    assert first.buffers != second.buffers


def test_two_uses_of_one_buffer_are_not_two_buffers() -> None:
    a, b = data(4, 5), data(4, 5)
    assert normalize(((a * a).node,)).sink is not normalize(((a * b).node,)).sink
