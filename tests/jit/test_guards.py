"""Another kind of call is traced anew, the same kind never is, and the reason can be had."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor, Variable
from ogive.config import Config
from ogive.counters import counters
from ogive.errors import VariableError
from tests.raising import raises


def traces(function: Any) -> int:
    return int(function.cache_info().traces)


@pytest.fixture
def log() -> Iterator[None]:
    ogive.configure(log="recompile")
    yield
    ogive.configure(log="")


def floats(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, np.float32))


class Mode(enum.Enum):
    ADD = 1
    MULTIPLY = 2


CHANGES: dict[str, tuple[Any, Any, str]] = {
    "shape": (floats(2), floats(3), "x: float32 (2,) on CPU → float32 (3,) on CPU"),
    "rank": (floats(2), floats(1, 2), "x: float32 (2,) on CPU → float32 (1, 2) on CPU"),
    "dtype": (floats(2), Tensor([1, 2]), "x: float32 (2,) on CPU → int64 (2,) on CPU"),
    "integer": (2, 3, "x: int 2 → int 3"),
    "type of number": (1, True, "x: int 1 → True"),
    "float": (1.0, 1, "x: float 1.0 → int 1"),
    "sign of zero": (0.0, -0.0, "x: float 0.0 → float -0.0"),
    "sign of a complex zero": (0j, -0j, "x: complex 0j → complex (-0-0j)"),
    "string": ("a", "b", "x: str 'a' → str 'b'"),
    "none": (None, 1, "x: None → int 1"),
    "slice": (slice(0, 2), slice(0, 1), "x: slice slice(0, 2, None) → slice slice(0, 1, None)"),
    "NumPy number": (np.float32(1), np.float32(2), "x: float32"),
    "enumeration": (Mode.ADD, Mode.MULTIPLY, "x: Mode"),
    "structure": ((floats(2),), [floats(2)], "type of x: tuple → list"),
    "length": (
        [floats(2)],
        [floats(2)] * 2,
        "x[1]: absent → float32 (2,) on CPU, in the memory of x[0]",
    ),
    "name": ({"a": floats(2)}, {"b": floats(2)}, "x['a']: float32 (2,) on CPU → absent"),
    "array": (floats(2), np.ones(2, np.float32), "x: float32 (2,) on CPU → float32 (2,) array"),
    "borrowed": (floats(2), Tensor.from_numpy(np.ones(2, np.float32)), "(2,) on CPU, borrowed"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_another_kind_of_call_is_traced_anew_with_a_reason(
    name: str, capsys: pytest.CaptureFixture[str], log: None
) -> None:
    one, other, reason = CHANGES[name]
    seen = []

    @ogive.jit
    def function(x: Any) -> Tensor:
        seen.append(x)
        return floats(1)

    function(one)
    assert capsys.readouterr().err == ""
    function(other)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("ogive: recompile: ")
    assert "function() (" in lines[0] and "test_guards.py:" in lines[0]
    assert reason in lines[0]
    for _ in range(3):
        function(one)
        function(other)
    assert capsys.readouterr().err == ""
    assert len(seen) == traces(function) == 2


def test_nan_is_a_constant_like_any_other() -> None:
    function = ogive.jit(lambda x, n: x + n)
    for _ in range(3):
        assert np.isnan(function(floats(1), float("nan")).item())
    assert traces(function) == 1


def test_keyword_arguments_are_told_apart_by_name() -> None:
    function = ogive.jit(lambda x, a=1.0, b=2.0: x * a + b)
    x = floats(1)
    assert function(x).item() == 3.0
    assert function(x, a=5.0).item() == 7.0
    assert function(x, b=5.0).item() == 6.0
    assert function(x, b=3.0, a=2.0).item() == function(x, a=2.0, b=3.0).item() == 5.0
    assert traces(function) == 4


def test_the_configuration_is_guarded_where_it_changes_code(
    capsys: pytest.CaptureFixture[str], log: None
) -> None:
    function = ogive.jit(lambda x: x * 3 + 1)
    x = floats(100)
    try:
        function(x)
        ogive.configure(vectorize=False)
        function(x)
        assert "configuration: " in capsys.readouterr().err
        assert traces(function) == 2
        ogive.configure(vectorize=True)
        function(x)
        ogive.configure(schedule_cache=False)
        function(x)
        assert traces(function) == 2
    finally:
        ogive.configure(vectorize=True, schedule_cache=True)
    own = ogive.jit(lambda x: x * 3 + 1, config=Config(vectorize=False))
    assert own(x).numpy()[0] == 4.0


def test_the_oldest_kind_is_dropped_beyond_the_limit() -> None:
    function = ogive.jit(lambda x, n: x + n, keep=2)
    x = floats(1)
    for number in (1, 2, 1, 3):  # 2 is the one least lately used
        function(x, number)
    assert function.cache_info()[1:] == (3, 2, 2)
    function(x, 1)
    assert traces(function) == 3
    function(x, 2)
    assert traces(function) == 4
    function.clear()
    assert function.cache_info().kept == 0
    assert function(x, 1).item() == 2.0


# What the function finds by itself


class Model:
    def __init__(self) -> None:
        self.layers = [{"w": Tensor([1.0, 2.0])}, {"w": Tensor([3.0, 4.0])}]
        self.scale = 1.0
        self.training = True
        self.epoch = 0

    def __call__(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = x * layer["w"] * self.scale
        return x if self.training else -x


scale = 2.0
weight = Tensor([1.0, 1.0])


def test_a_tensor_that_is_assigned_to_is_read_anew() -> None:
    w = Tensor([1.0, 2.0])
    function = ogive.jit(lambda x: x + w)
    x = Tensor([0.0, 0.0])
    assert function(x).tolist() == [1.0, 2.0]
    w.assign(Tensor([5.0, 6.0]))
    assert function(x).tolist() == [5.0, 6.0]
    w.assign(w * 2).realize()
    assert function(x).tolist() == [10.0, 12.0]
    w[0] = 1
    assert function(x).tolist() == [1.0, 12.0]
    assert traces(function) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tensor(2.0),
        lambda: ogive.ones(3),
        lambda: ogive.ones(1, 3)[0],
        lambda: Tensor([1.0, 2.0, 3.0]) * 2,
        lambda: Tensor([[1.0], [2.0], [3.0]]).T[0],
        lambda: Tensor([[1.0, 2.0, 3.0]])[0],
        lambda: Tensor.from_numpy(np.ones(3, np.float32)),
    ],
)
@pytest.mark.parametrize(
    "use",
    [
        lambda x, w: x * w,
        lambda x, w: x.double() * w,
        lambda x, w: x * w.cast("float64"),
        lambda x, w: x * w.reshape(-1, 1).expand(-1, 3)[0],
        lambda x, w: x * w.reshape(1, -1).T,
        lambda x, w: ogive.zeros(3) + w,
    ],
)
def test_a_change_is_seen_however_the_tensor_was_made_and_is_used(make: Any, use: Any) -> None:
    w = make()
    x = Tensor([1.0, 2.0, 3.0])
    function = ogive.jit(lambda x: use(x, w))
    for _ in range(3):
        np.testing.assert_array_equal(function(x).numpy(), use(x, w).numpy())
        w.assign(w * 3 + 1)
    assert traces(function) <= 2


def test_two_tensors_of_one_memory_change_together() -> None:
    w = Tensor([1.0, 2.0])
    alias = w.reshape(2, 1)
    function = ogive.jit(lambda x: x + w + alias.reshape(-1))
    x = Tensor([0.0, 0.0])
    assert function(x).tolist() == [2.0, 4.0]
    w.assign(w * 10)
    assert function(x).tolist() == [20.0, 40.0]
    alias.assign(alias * 0)
    assert function(x).tolist() == [0.0, 0.0]


def test_a_tensor_that_changes_its_kind_is_traced_anew(
    capsys: pytest.CaptureFixture[str], log: None
) -> None:
    model = Model()
    function = ogive.jit(lambda x: model(x))
    x = Tensor([1.0, 1.0])
    assert function(x).tolist() == [3.0, 8.0]
    model.layers[0]["w"] = Tensor([2.0])
    assert function(x).tolist() == [6.0, 8.0]
    assert "model.layers[0]['w']: another tensor" in capsys.readouterr().err
    assert traces(function) == 2


def test_replaced_objects_flags_and_numbers_are_noticed(
    capsys: pytest.CaptureFixture[str], log: None
) -> None:
    model = Model()
    kept = model.layers[1]
    function = ogive.jit(lambda x: model(x))
    x = Tensor([1.0, 1.0])
    assert function(x).tolist() == [3.0, 8.0]
    model.layers[1] = {"w": Tensor([1.0, 1.0])}
    assert function(x).tolist() == [1.0, 2.0]
    model.scale = 2.0
    assert function(x).tolist() == [4.0, 8.0]
    assert "model.scale: 1.0 → 2.0" in capsys.readouterr().err
    model.training = False
    assert function(x).tolist() == [-4.0, -8.0]
    model = Model()
    assert function(x).tolist() == [3.0, 8.0]
    assert kept["w"].tolist() == [3.0, 4.0]
    before = traces(function)
    model.epoch = 3  # nothing of it reads that
    model.scale = float("1.0")
    assert function(x).tolist() == [3.0, 8.0]
    assert traces(function) == before


def test_replaced_globals_are_noticed() -> None:
    global scale, weight

    @ogive.jit
    def function(x: Tensor) -> Tensor:
        return helper(x) * scale

    x = Tensor([1.0, 2.0])
    assert function(x).tolist() == [4.0, 6.0]
    scale = 3.0
    assert function(x).tolist() == [6.0, 9.0]
    old = weight
    weight = Tensor([0.0, 0.0])
    assert function(x).tolist() == [3.0, 6.0]
    weight, scale = old, 2.0


def helper(x: Tensor) -> Tensor:
    return x + weight


def test_an_inlined_function_is_guarded_too() -> None:
    w = Tensor([1.0])
    factor = 2.0
    inner = ogive.jit(lambda x: x * w * factor)
    outer = ogive.jit(lambda x: inner(x) + 1)
    x = Tensor([1.0])
    assert outer(x).tolist() == [3.0]
    factor = 3.0
    assert outer(x).tolist() == [4.0]
    kept, w = w, Tensor([10.0])
    assert outer(x).tolist() == [31.0]
    assert inner.cache_info().traces == 0
    assert kept.tolist() == [1.0]


def test_a_counter_inside_the_function_means_a_trace_a_call_and_right_results() -> None:
    class Counter:
        count = 0

        @ogive.jit
        def __call__(self, x: Tensor) -> Tensor:
            self.count = self.count + 1
            return x * self.count

    counter = Counter()
    counter.count = 0
    assert [counter(Tensor([1.0])).item() for _ in range(4)] == [1.0, 2.0, 3.0, 4.0]


def test_a_tensor_replaced_inside_is_refused_and_put_back() -> None:
    class Decay:
        def __init__(self) -> None:
            self.w = Tensor([8.0])

        @ogive.jit
        def step(self, x: Tensor) -> Tensor:
            self.w = self.w * 0.5
            return x * self.w

        @ogive.jit
        def keep(self, x: Tensor) -> Tensor:
            self.w = self.w + x
            return x * 1

    decay = Decay()
    for method in (decay.step, decay.keep):
        with raises(ogive.errors.TraceError, match=r"replaces self\.w, which a captured"):
            method(Tensor([1.0]))
        assert decay.w.tolist() == [8.0]


def test_a_tensor_kept_for_later_is_read_as_such() -> None:
    class Lazy:
        mask: Tensor | None = None

        @ogive.jit
        def forward(self, x: Tensor) -> Tensor:
            if self.mask is None:
                self.mask = Tensor([1.0, 0.0]) * 2
            return x * self.mask

    lazy = Lazy()
    x = Tensor([3.0, 3.0])
    for _ in range(3):
        assert lazy.forward(x).tolist() == [6.0, 0.0]
    assert Lazy.forward.cache_info().traces <= 2
    assert lazy.mask is not None
    lazy.mask.assign([0.0, 1.0] * lazy.mask.numpy())
    assert lazy.forward(x).tolist() == [0.0, 0.0]


# Aliases


def test_the_same_tensor_twice_is_another_kind_of_call() -> None:
    @ogive.jit
    def add_twice(x: Tensor, y: Tensor) -> Tensor:
        x.assign(x + 1)
        return x + y

    def plain(x: Tensor, y: Tensor) -> Tensor:
        x.assign(x + 1)
        return x + y

    for function in (plain, add_twice):
        for _ in range(2):
            x, y = Tensor([1.0, 2.0]), Tensor([10.0, 20.0])
            assert function(x, y).tolist() == [12.0, 23.0]
            assert function(x, x).tolist() == [6.0, 8.0]
            view = x.clone().reshape(2, 1)
            assert function(x, view.reshape(2)).tolist() == [7.0, 9.0]
            assert view.reshape(-1).tolist() == [3.0, 4.0]
            assert function(y.clone().reshape(2), y).tolist() == [21.0, 41.0]
            assert y.tolist() == [10.0, 20.0]
    assert traces(add_twice) == 3


# Steady calls


def test_steady_calls_schedule_and_compile_nothing() -> None:
    w = Tensor(np.ones((5, 3), np.float32))
    function = ogive.jit(lambda x: (x @ w).softmax(-1))

    def turn() -> None:
        x = function(Tensor(np.ones((4, 5), np.float32))) @ Tensor(np.ones((3, 5), np.float32))
        function(x.realize())

    turn()  # compiles the product outside
    before = counters()
    for _ in range(20):
        turn()
    after = counters()
    for name in ("schedules_created", "kernels_compiled"):
        assert after[name] == before[name]
    x = Tensor(np.ones((4, 5), np.float32))
    function(x)
    before = counters()
    for _ in range(20):
        function(x)
    after = counters()
    for name in ("schedules_created", "schedule_hits", "kernels_compiled", "kernel_hits"):
        assert after[name] == before[name]


# Variables


def test_a_variable_is_guarded_by_its_bounds_and_not_by_its_value() -> None:
    n = Variable("n", 1, 10)
    data = np.arange(20, dtype=np.float32).reshape(10, 2)
    function = ogive.jit(lambda x: (x * 2, x.sum(0)))
    for size in (4, 1, 10, 7):
        x = Tensor(data).shrink(((0, n.bind(size)), (0, 2)))
        double, total = function(x)
        np.testing.assert_array_equal(total.numpy(), data[:size].sum(0))
        np.testing.assert_array_equal(double.numpy(), data[:size] * 2)
    assert traces(function) == 1
    m = Variable("n", 1, 9)
    function(Tensor(data).shrink(((0, m.bind(3)), (0, 2))))
    assert traces(function) == 2


def test_a_bound_variable_can_be_an_argument() -> None:
    n = Variable("n", 1, 10)
    data = np.arange(10, dtype=np.float32)
    x = Tensor(data)
    function = ogive.jit(lambda x, size: x.shrink(((0, size),)).sum())
    for size in (4, 1, 10):
        assert function(x, n.bind(size)).item() == data[:size].sum()
    assert traces(function) == 1


def test_two_values_of_one_variable_in_a_call_are_refused() -> None:
    n = Variable("n", 1, 10)
    x = Tensor(np.ones(10, np.float32))
    function = ogive.jit(lambda x, y: x.sum() + y.sum())
    with raises(VariableError, match="'n' is bound to 3 and to 4"):
        function(x.shrink(((0, n.bind(3)),)), x.shrink(((0, n.bind(4)),)))
    w = x.shrink(((0, n.bind(3)),))
    uses = ogive.jit(lambda x: x.sum() + w.sum())
    assert uses(x.shrink(((0, n.bind(3)),))).item() == 6.0
    with raises(VariableError, match="'n' is bound to 4 in an argument and to 3"):
        uses(x.shrink(((0, n.bind(4)),)))
