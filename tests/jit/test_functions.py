"""A captured function gives what the function gives, for arguments and results of any form."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import ogive
from ogive import Tensor
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, TraceError, words_of
from ogive.jit.argument_trees import leaves
from tests.raising import raises


def array(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


class Pair(NamedTuple):
    first: Tensor
    second: Tensor


@dataclass
class State:
    weight: Tensor
    scale: float


def in_place(x: Tensor) -> Tensor:
    y = x * 1
    y[1:] = y[:-1] + 1
    y.assign(y * 2)
    return y


def written_constant(x: Tensor) -> Tensor:
    y = Tensor([1.0, 2.0, 3.0])
    y[1] = x[0, 0]
    return y


def versions(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x + 0
    first = y * 10
    y.assign(y + 1)
    second = y.reshape(-1)
    y.assign(y * 3)
    return first, second, y


def constant_versions(x: Tensor) -> tuple[Tensor, Tensor]:
    y = Tensor([1.0, 2.0, 3.0])
    y[0] = x[0, 0]
    first = y.reshape(3, 1)
    y[1] = x[0, 1]
    return first, y


CASES: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "elementwise": (lambda x: x.exp() * 2 + 1, [(3, 5)]),
    "two arguments": (lambda x, y: (x - y).abs(), [(3, 5), (5,)]),
    "product": (lambda x, w: (x @ w).relu(), [(7, 5), (5, 3)]),
    "softmax": (lambda x: x.softmax(-1), [(6, 33)]),
    "over everything": (lambda x: x - x.mean(), [(40, 50)]),
    "movement": (lambda x: x.T.reshape(-1)[::2].flip(0), [(4, 6)]),
    "a view of an argument": (lambda x: x.reshape(-1), [(4, 6)]),
    "an argument": (lambda x: x, [(4, 6)]),
    "an argument twice": (lambda x: (x, x + 1, x), [(4, 6)]),
    "results that share": (lambda x: [x.exp(), x.exp() + 1, x.exp().sum()], [(4, 6)]),
    "a constant": (lambda x: ogive.ones(3), [(4, 6)]),
    "a number": (lambda x: Tensor(4.0), [(4, 6)]),
    "a made tensor": (lambda x: x[0] + Tensor([1.0, 2.0]), [(4, 2)]),
    "a range": (lambda x: (ogive.arange(4), ogive.arange(4) * 1.5), [(1,)]),
    "empty": (lambda x: (x * 2, x.sum(), ogive.zeros(0, 3)), [(0, 3)]),
    "empty beside full": (lambda x, y: ogive.cat([x, y]), [(0, 3), (2, 3)]),
    "empty twice": (lambda x, y: (x + 1, y.sum(0)), [(0, 3), (0, 2)]),
    "scalar": (lambda x: x + 1, [()]),
    "nothing": (lambda x: None, [(2,)]),
    "an empty tree": (lambda x: {}, [(2,)]),
    "a tree": (lambda x: {"a": [x + 1, None], "b": Pair(x, x * 2)}, [(2,)]),
    "an ordered tree": (lambda x: OrderedDict(a=x + 1, b=(x,)), [(2,)]),
    "a dataclass": (lambda x: State(x + 1, None), [(2,)]),  # type: ignore[arg-type]
    "in place inside": (in_place, [(5,)]),
    "a written constant": (written_constant, [(2, 2)]),
    "several versions": (versions, [(2, 2)]),
    "several versions of a constant": (constant_versions, [(2, 2)]),
    "a cast": (lambda x: (x.cast("int32"), x > 0, x.half()), [(5, 5)]),
    "detached": (lambda x: (x.detach(), (x * 2).detach()), [(5,)]),
    "realized half-way": (lambda x: (x * 2).realize() + 1, [(5,)]),
    "nested": (lambda x: ogive.jit(lambda y: y * 2)(x) + 1, [(5,)]),
}


def plain(tree: Any) -> list[Any]:
    return [
        (path, None if leaf is None else (leaf.dtype.name, leaf.numpy().tolist()))
        for path, leaf in leaves(tree, "")
    ]


@pytest.mark.usefixtures("fixed_sizes")
@pytest.mark.parametrize("name", CASES)
def test_a_captured_function_gives_what_the_function_gives(name: str) -> None:
    function, shapes = CASES[name]
    captured = ogive.jit(function)
    for seed in range(3):
        arrays = [array(*shape, seed=seed + 10 * at) for at, shape in enumerate(shapes)]
        wanted = function(*[Tensor(entry) for entry in arrays])
        given = [Tensor(entry) for entry in arrays]
        result = captured(*given)
        assert type(result) is type(wanted)
        assert plain(result) == plain(wanted)
        for tensor, entry in zip(given, arrays, strict=True):
            np.testing.assert_array_equal(tensor.numpy(), entry)
    assert captured.cache_info().traces == 1


def test_arguments_may_be_trees() -> None:
    @ogive.jit
    def total(tree: Any, *, state: State) -> Any:
        return tree["a"][0] + tree["b"].second * state.weight * state.scale

    def call(seed: int, scale: float = 2.0) -> Any:
        a, b, w = (Tensor(array(3, seed=seed + at)) for at in range(3))
        tree = {"a": (a, None, "text"), "b": Pair(a, b)}
        expected = a.numpy() + b.numpy() * w.numpy() * scale
        np.testing.assert_allclose(total(tree, state=State(w, scale)).numpy(), expected, rtol=1e-6)

    for seed in range(3):
        call(seed)
    assert total.cache_info().traces == 1
    call(0, scale=3.0)
    assert total.cache_info().traces == 2


def test_arrays_are_borrowed_for_the_call() -> None:
    captured = ogive.jit(lambda x, y: x * 2 + y)
    for seed in range(3):
        x, y = array(4, 3, seed=seed), array(seed=seed)
        np.testing.assert_allclose(captured(x, y).numpy(), x * 2 + y, rtol=1e-6)
        np.testing.assert_allclose(captured(x[::-1], y).numpy(), x[::-1] * 2 + y, rtol=1e-6)
        big = x.astype(">f4")
        np.testing.assert_allclose(captured(big, y).numpy(), x * 2 + y, rtol=1e-6)
    assert captured.cache_info().traces == 1


def test_an_array_that_is_returned_comes_back_as_a_copy() -> None:
    x = array(3)
    result = ogive.jit(lambda x: x)(x)
    x[:] = 0
    assert result.numpy().any()


def test_an_array_is_never_written_to() -> None:
    @ogive.jit
    def double(x: Any) -> Any:
        x.assign(x * 2)
        return x

    x = array(3)
    kept = x.copy()
    np.testing.assert_array_equal(double(x).numpy(), kept * 2)
    np.testing.assert_array_equal(x, kept)


def test_lazy_arguments_are_computed_first() -> None:
    captured = ogive.jit(lambda x: x + 1)
    for number in range(3):
        assert captured(Tensor([1.0, number]) * 2).tolist() == [3.0, number * 2 + 1.0]
    assert captured(ogive.ones(2)).tolist() == [2.0, 2.0]
    assert captured.cache_info().traces == 1


def test_results_are_fresh() -> None:
    captured = ogive.jit(lambda x: (x * 2, x.sum()))
    kept = [captured(Tensor([float(number), 1.0])) for number in range(20)]
    for number, (double, total) in enumerate(kept):
        assert double.tolist() == [number * 2.0, 2.0]
        assert total.item() == number + 1.0


def test_results_are_fresh_when_only_something_built_on_them_lives() -> None:
    captured = ogive.jit(lambda x: x * 2)
    built = [captured(Tensor([float(number)])) + 1 for number in range(20)]
    views = [captured(Tensor([float(number)])).reshape(1, 1) for number in range(20)]
    for number in range(20):
        assert built[number].tolist() == [number * 2.0 + 1]
        assert views[number].tolist() == [[number * 2.0]]


def test_a_result_can_be_assigned_to_without_touching_later_ones() -> None:
    captured = ogive.jit(lambda x: x * 2)
    x = Tensor([1.0, 2.0])
    for _ in range(5):
        result = captured(x)
        assert result.tolist() == [2.0, 4.0]
        result.assign(result * 0)
        assert result.tolist() == [0.0, 0.0]


def test_the_memory_of_a_result_that_nobody_has_is_used_again() -> None:
    f = ogive.jit(lambda x: [x * 2])
    x = array(100)
    f(x)
    kept = f(x)[0]
    before = ogive.counters()
    for _ in range(20):
        f(x)
    after = ogive.counters()
    for name in ("bytes_allocated", "bytes_reused"):
        assert after[name] - before[name] <= 2 * kept.nbytes, "one cell serves all calls"
    np.testing.assert_array_equal(kept.numpy(), x * 2)


def test_large_results_are_fresh_too() -> None:
    captured = ogive.jit(lambda x: x * 2)
    ones = ogive.ones(200_000).realize()
    first = captured(ones)
    second = captured(first)
    third = captured(second)
    assert [t.numpy()[-1] for t in (first, second, third)] == [2.0, 4.0, 8.0]


def test_constants_made_inside_survive_being_written_to() -> None:
    captured = ogive.jit(written_constant)
    for number in range(3):
        result = captured(Tensor([[float(number)]]))
        assert result.tolist() == [1.0, number, 3.0]
        result.assign(result * 0).realize()


def test_a_method_is_captured_with_its_object_as_a_constant() -> None:
    class Layer:
        def __init__(self, weight: list[float]) -> None:
            self.weight = Tensor(weight)

        @ogive.jit
        def forward(self, x: Tensor) -> Tensor:
            """Multiplies."""
            return x * self.weight

    one, two = Layer([1.0, 2.0]), Layer([3.0, 4.0])
    x = Tensor([1.0, 1.0])
    for _ in range(2):
        assert one.forward(x).tolist() == [1.0, 2.0]
        assert two.forward(x).tolist() == [3.0, 4.0]
    assert Layer.forward.cache_info().traces == 2
    assert Layer.forward.__doc__ == "Multiplies."
    assert Layer.forward.__name__ == "forward"
    del one, two
    assert Layer.forward.cache_info().kept == 0


def test_a_bound_method_and_a_partial_can_be_captured() -> None:
    import functools

    class Layer:
        def __init__(self) -> None:
            self.weight = Tensor([2.0])

        def forward(self, x: Tensor, y: float) -> Tensor:
            return x * self.weight + y

    layer = Layer()
    captured = ogive.jit(functools.partial(layer.forward, y=1.0))
    assert captured(Tensor([3.0])).tolist() == [7.0]
    layer.weight = Tensor([10.0])
    assert captured(Tensor([3.0])).tolist() == [31.0]


def test_a_fault_shows_the_line_and_leaves_the_function_usable() -> None:
    @ogive.jit
    def divide(x: Tensor, y: Tensor) -> Tensor:
        return x // y

    x = Tensor([10, 20])
    assert divide(x, Tensor([3, 4])).tolist() == [3, 5]
    with raises(ZeroDivisionError, match="by a zero element", quoting="return x // y"):
        divide(x, Tensor([3, 0]))
    assert divide(x, Tensor([3, 4])).tolist() == [3, 5]


def test_plans_that_have_not_run_run_first() -> None:
    x = Tensor([1.0, 2.0]) * 2
    x.prepare()
    assert ogive.jit(lambda x: x + 1)(x).tolist() == [3.0, 5.0]


# Errors


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (3, "returned int 3 as result;"),
        ((None, "text"), r"returned str 'text' as result\[1\]"),
        ({"a": [1.5]}, r"returned float 1.5 as result\['a'\]\[0\]"),
        (np.ones(2), "returned ndarray"),
    ],
)
def test_what_is_not_a_tensor_cannot_be_returned(result: Any, words: str) -> None:
    def wrong(x: Tensor) -> Any:
        return result

    with raises(TraceError, match=words, quoting=r"def wrong\(x: Tensor\)") as caught:
        ogive.jit(wrong)(Tensor([1.0]))
    assert "wrong() (" in words_of(caught.value)


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (lambda x: x if x.sum() > 0 else -x, r"^bool\(\) asks for values"),
        (lambda x: x * x.sum().item(), r"^item\(\) asks for values"),
        (lambda x: x * float(x.sum()), r"^float\(\) asks for values"),
        (lambda x: x * x.tolist()[0], r"^tolist\(\) asks for values"),
        (lambda x: x * x.numpy(), r"^numpy\(\) asks for values"),
        (lambda x: x * np.asarray(x), r"^asarray\(\) asks for values"),
        (lambda x: x * np.asarray(x + 1), r"^asarray\(\) asks for values"),
        (lambda x: x[x > 0], r"^__getitem__\(\) asks for values"),
        (lambda x: x.prepare(), "a plan cannot be prepared"),
    ],
)
def test_values_cannot_be_asked_for_inside(read: Any, words: str) -> None:
    x = Tensor([1.0, 2.0])
    with raises(TraceError, match=words, quoting="lambda x:"):
        ogive.jit(read)(x)
    assert x.tolist() == [1.0, 2.0]


def test_values_of_tensors_from_outside_are_refused_as_well() -> None:
    flag = Tensor([True]).realize()
    lazy = Tensor(2.0)

    @ogive.jit
    def choose(x: Tensor) -> Tensor:
        return x if flag else -x

    @ogive.jit
    def scale(x: Tensor) -> Tensor:
        return x * lazy.item()

    for captured in (choose, scale):
        with raises(TraceError, match="asks for values"):
            captured(Tensor([1.0]))


def test_a_tensor_can_be_printed_inside(capsys: pytest.CaptureFixture[str]) -> None:
    outside = Tensor([5.0])

    @ogive.jit
    def show(x: Tensor) -> Tensor:
        print(x, outside)
        return x * 1

    show(Tensor([1.0]))
    show(Tensor([1.0]))
    assert capsys.readouterr().out.count("inside a captured function") == 2


def test_a_tensor_kept_outside_is_refused() -> None:
    history: list[Tensor] = []

    @ogive.jit
    def remember(x: Tensor) -> Tensor:
        history.append(x * 2)
        return x + 1

    line = r"history\.append\(x \* 2\)"
    with raises(TraceError, match="kept somewhere outside", quoting=line):
        remember(Tensor([1.0]))
    assert not history


def test_a_constant_kept_outside_at_every_call_is_refused() -> None:
    history: list[Tensor] = []

    @ogive.jit
    def remember(x: Tensor) -> Tensor:
        history.append(ogive.ones(2))
        return x + 1

    with raises(TraceError, match="kept somewhere outside"):
        remember(Tensor([1.0]))


def test_arguments_cannot_be_replaced_inside() -> None:
    @ogive.jit
    def replace(tree: dict[str, Tensor]) -> None:
        tree["w"] = tree["w"] + 1

    tree = {"w": Tensor([1.0])}
    with raises(TraceError, match=r"replaces tree\['w'\] inside its arguments"):
        replace(tree)
    assert tree["w"].tolist() == [1.0]


def test_wrong_arguments_of_jit_are_refused() -> None:
    def function(x: Tensor, y: Tensor) -> Tensor:
        return x + y

    with raises(ArgumentTypeError, match="jit takes a function, not int"):
        ogive.jit(3)  # type: ignore[call-overload]
    with raises(ArgumentError, match="keep must be a positive integer, got 0"):
        ogive.jit(function, keep=0)
    with raises(ArgumentError, match="there is no argument 2; the function takes x, y"):
        ogive.jit(function, donate=(2,))
    with raises(ArgumentError, match="no argument 'z'"):
        ogive.jit(function, donate="z")
    with raises(ArgumentTypeError, match="positions and names"):
        ogive.jit(function, donate=(1.5,))  # type: ignore[arg-type]
    with pytest.raises(DtypeError):
        ogive.jit(lambda x: x)(np.array(["text"]))


def test_an_exception_inside_changes_nothing() -> None:
    w, x = Tensor([1.0]), Tensor([2.0])
    broken = True

    @ogive.jit
    def step(x: Tensor) -> Tensor:
        w.assign(w + x)
        x.assign(x * 0)
        if broken:
            raise RuntimeError("stop")
        return w * 1

    with raises(RuntimeError, match="stop"):
        step(x)
    assert (w.tolist(), x.tolist()) == ([1.0], [2.0])
    broken = False
    assert step(x).tolist() == [3.0]
    assert (w.tolist(), x.tolist()) == ([3.0], [0.0])


class Opaque:
    """What a function may be given or be, and that has no attributes to look into."""

    __slots__ = ("factor",)

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, x: Tensor) -> Tensor:
        return x * self.factor


def test_what_has_no_dictionary_can_be_captured_and_given() -> None:
    x = Tensor([1.0, 2.0])
    assert ogive.jit(operator.add)(x, x).tolist() == [2.0, 4.0]
    assert ogive.jit(Opaque(3.0))(x).tolist() == [3.0, 6.0]
    scaled = ogive.jit(lambda scale, x: scale(x) + 1)
    for factor in (3.0, 5.0):
        assert scaled(Opaque(factor), x).tolist() == [factor + 1, 2 * factor + 1]
    converted = ogive.jit(lambda x, dtype: x.to(dtype))
    assert converted(x, np.dtype("int32")).tolist() == [1, 2]
