"""Reductions of reductions over more than caches hold go through memory once, in blocks."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import z3

import ogive
from ogive import Config, Tensor
from ogive.compiler.engine.steps.compiled_graph import Launch
from ogive.compiler.ir.dtype import float64
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.graph.reductions.reduce_once import FORMS, Block, Form
from tests.compiler.ir.symbolic.expressions import evaluate_values

CHECKED = Config(verify=True, disk_cache=False)
Array = Any


def leaves(count: int) -> list[UOp]:
    return [UOp(Op.PARAM, float64, (), (number, 1)) for number in range(count)]


def total(terms: list[UOp]) -> UOp:
    return functools.reduce(lambda x, y: UOp(Op.ADD, float64, (x, y)), terms)


def sum_about(form: Form, elements: list[UOp], centre: UOp) -> UOp:
    return total([form.term(element, centre) for element in elements])


def moved_sum(form: Form, elements: list[UOp], centre: UOp) -> UOp:
    """The same, from a block with a centre of its own."""
    reduced = functools.reduce(lambda x, y: UOp(form.op, float64, (x, y)), elements)
    own = form.centre_of(reduced, len(elements))
    terms = (form.term, *form.others)
    sums = tuple([total([term(element, own) for element in elements]) for term in terms])
    return form.moved(Block(len(elements), reduced, own, sums), centre)


class Meaning:
    """Nodes as terms over the real numbers, of which none is infinite."""

    def __init__(self) -> None:
        self.exponential = z3.Function("exp", z3.RealSort(), z3.RealSort())
        self.exponents: list[Any] = []

    def __call__(self, root: UOp) -> Any:
        done: dict[UOp, Any] = {}
        for node in root.walk():
            done[node] = self.term(node, [done[source] for source in node.src])
        return done[root]

    def term(self, node: UOp, sources: list[Any]) -> Any:
        if node.op is Op.PARAM:
            return z3.Real(f"x{node.arg[0]}")
        if node.op is Op.CONST:
            return node.arg if math.isinf(node.arg) else z3.RealVal(node.arg)
        if node.op is Op.EXP:
            self.exponents.append(sources[0])
            return self.exponential(sources[0])
        if node.op is Op.CMPEQ:
            assert node.src[1].arg == math.inf
            return z3.BoolVal(False)
        operations: dict[Op, Callable[..., Any]] = {
            Op.ADD: lambda x, y: x + y,
            Op.SUB: lambda x, y: x - y,
            Op.MUL: lambda x, y: x * y,
            Op.DIV: lambda x, y: x / y,
            Op.MAXIMUM: lambda x, y: z3.If(x > y, x, y),
            Op.ABS: lambda x: z3.If(x < 0, -x, x),
            Op.WHERE: z3.If,
        }
        return operations[node.op](*sources)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.term.__name__)
def test_a_moved_sum_is_the_sum_about_the_other_centre(form: Form) -> None:
    *elements, centre = leaves(4)
    meaning = Meaning()
    plain, moved = [meaning(f(form, elements, centre)) for f in (sum_about, moved_sum)]
    solver = z3.Solver()
    for x, y in itertools.product(meaning.exponents, repeat=2):
        for z in meaning.exponents:
            product = meaning.exponential(x) * meaning.exponential(y)
            solver.add(z3.Implies(x + y == z, product == meaning.exponential(z)))
    solver.add(plain != moved)
    assert solver.check() == z3.unsat


@pytest.mark.parametrize("guarded", [False, True], ids=["the maximum", "0 for an infinite one"])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.term.__name__)
def test_infinities_come_out_the_same(form: Form, guarded: bool) -> None:
    special = [-math.inf, -800.0, -1.0, 0.0, 2.5, 700.0, math.inf, math.nan]
    draws = np.array(list(itertools.product(special, repeat=4))).T
    elements = leaves(4)
    whole = functools.reduce(lambda x, y: UOp(form.op, float64, (x, y)), elements)
    centre = form.centre_of(whole, 4) if guarded or form.op is Op.ADD else whole
    plain = sum_about(form, elements, centre)
    moved = total([moved_sum(form, elements[:2], centre), moved_sum(form, elements[2:], centre)])
    values = dict(zip(elements, draws, strict=True))
    expected, found = [evaluate_values(root, values)[0] for root in (plain, moved)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


FUNCTIONS: dict[str, Callable[[Any, int], Any]] = {
    "softmax": lambda x, axis: x.softmax(axis),
    "log_softmax": lambda x, axis: x.log_softmax(axis),
    "logsumexp": lambda x, axis: x.logsumexp(axis),
    "var": lambda x, axis: x.var(axis),
}


def data(shape: tuple[int, ...]) -> Array:
    values = np.random.default_rng(len(shape)).normal(size=shape) * 3
    return values.astype(np.float32)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((2, 70001), 1), ((1, 81920), 1), ((71, 30000), 0), ((3, 96, 8000), 1)],
    ids=str,
)
def test_results_are_as_exact_as_the_element_type(
    name: str, shape: tuple[int, ...], axis: int
) -> None:
    values = data(shape)
    result = FUNCTIONS[name](Tensor(values), axis).realize(config=CHECKED).numpy()
    expected = FUNCTIONS[name](torch.from_numpy(values).double(), axis).numpy()
    np.testing.assert_allclose(result, expected, rtol=2e-6, atol=1e-6)


def test_a_variance_far_from_zero_is_exact() -> None:
    values = data((1, 1 << 17)) + np.float32(1e5)
    expected = values.astype(np.float64).var(1, ddof=1)
    np.testing.assert_allclose(Tensor(values).var(1).numpy(), expected, rtol=4e-6)


@pytest.mark.parametrize(("shape", "axis"), [((6, 66000), 1), ((96, 22000), 0)], ids=str)
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_infinite_and_missing_values_are_those_of_pytorch(
    name: str, shape: tuple[int, int], axis: int
) -> None:
    values = data(shape)
    rows = values if axis == 1 else values.T
    rows[1, : rows.shape[1] // 2] = -np.inf  # whole blocks
    rows[2] = -np.inf
    rows[3, 7] = np.inf
    rows[4, -1] = np.nan
    result = FUNCTIONS[name](Tensor(values), axis).numpy()
    expected = FUNCTIONS[name](torch.from_numpy(values), axis).numpy()
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def launches(tensor: Tensor) -> list[Launch]:
    return [step for step in tensor.prepare(CHECKED).steps if isinstance(step, Launch)]


def test_one_kernel_reads_the_elements_for_all_sums() -> None:
    for x, axis in ((ogive.zeros((2, 1 << 17)), 1), (ogive.zeros((256, 1 << 13)), 0)):
        x.assign(x + 1).realize()
        assert [len(launch.written) for launch in launches(x.logsumexp(axis))] == [2, 1]
        assert [len(launch.written) for launch in launches(x.softmax(axis))] == [2, 2, 1]
        assert [len(launch.written) for launch in launches(x.var(axis))] == [3, 1]


@pytest.mark.parametrize(
    "build",
    [
        lambda: ogive.zeros((64, 50000)).contiguous().logsumexp(1),  # it stays in a cache
        lambda: ogive.zeros((2, 1000)).contiguous().logsumexp(1),
        lambda: ogive.zeros((1, 1 << 17)).contiguous().exp().sum(1),  # about no centre
        lambda: (ogive.zeros((1, 1 << 17)).contiguous() - 1).exp().sum(1),
    ],
)
def test_other_reductions_stay_as_they_are(build: Callable[[], Tensor]) -> None:
    assert all(len(launch.written) == 1 for launch in launches(build()))
