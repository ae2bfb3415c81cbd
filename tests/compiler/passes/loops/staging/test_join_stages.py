"""Values that a kernel keeps in scratch memory: what is staged, and that nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from ogive import Config, Tensor, Variable
from ogive.compiler.devices.llvm.compile_region import linearize_placed
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import SCRATCH, Op, staged_row
from ogive.compiler.passes.loops.kernel_axes import axis_extent
from ogive.compiler.passes.loops.rangeify import make_range
from ogive.compiler.passes.loops.staging.scratch_layout import shared_areas
from ogive.compiler.passes.lower.linearize import Item, Loop
from ogive.compiler.passes.pipeline.region_passes import placement_for
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.worker_messages import Open, pack_message, unpack_message
from ogive.compiler.targets.target import describe_cpu
from ogive.errors import OptimizeError, VerifyError
from tests.compiler.passes.loops.loops import CONFIG, kernels_of
from tests.compiler.passes.place.test_placements import Kernel, check
from tests.costs import SMALL_SCORES, host_with
from tests.raising import raises

Array = NDArray[Any]
RANDOM = np.random.default_rng(11)
CONFIG_OF_SCORES = Config(verify=True, costs=SMALL_SCORES)
TARGET = describe_cpu("x86_64-linux-gnu", "skylake-avx512", "+avx,+avx2,+avx512f")


def data(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def staged_in(root: UOp) -> list[UOp]:
    return [node for node in root.walk() if node.op is Op.STAGE]


def nest(items: list[Item]) -> list[Any]:
    return [nest(item.body) for item in items if isinstance(item, Loop)]


def attention(query: Array, key: Array, value: Array, causal: bool = False) -> Tensor:
    return Tensor(query).scaled_dot_product_attention(
        Tensor(key), Tensor(value), is_causal=causal
    )


def exact_attention(query: Array, key: Array, value: Array, causal: bool = False) -> Array:
    operands = [torch.tensor(operand.astype(np.float64)) for operand in (query, key, value)]
    wanted = torch.nn.functional.scaled_dot_product_attention(*operands, is_causal=causal)
    return np.asarray(wanted.numpy())


# What is staged


@pytest.mark.parametrize("axis", [0, 1])
def test_the_exponentials_of_a_softmax_are_computed_once(axis: int) -> None:
    (kernel,) = kernels_of(Tensor(data(50, 70)).softmax(axis))
    assert len(staged_in(kernel)) == 1
    assert [node.op for node in kernel.walk()].count(Op.EXP) == 1
    placed = linearize_placed(kernel, Placement(parallel=1), CONFIG)
    assert nest(placed.program) == [[[], [], []]]


def test_costly_work_on_a_row_needs_no_kernel_of_its_own() -> None:
    (kernel,) = kernels_of(Tensor(data(50, 70)).gelu().layer_norm(70))
    assert len(staged_in(kernel)) == 1


@pytest.mark.parametrize(
    "build",
    [
        lambda x: x.layer_norm(70),
        lambda x: x.log_softmax(-1),
        lambda x: x.exp().sum(-1),
        lambda x: (x.exp() / x.exp().flip(1).sum(-1, keepdim=True)),
    ],
    ids=["cheap", "needed once", "one loop", "read backwards"],
)
def test_nothing_is_staged_that_need_not_or_cannot_be(build: Callable[[Tensor], Tensor]) -> None:
    assert not any(staged_in(kernel) for kernel in kernels_of(build(Tensor(data(50, 70)))))


def test_a_row_that_is_too_long_is_not_staged() -> None:
    longest = TARGET.l2_bytes // 4 // 4
    for length, count in ((longest, 1), (longest + 1, 0)):
        (kernel,) = kernels_of(Tensor(np.zeros((40, length), np.float32)).softmax(-1), TARGET)
        assert len(staged_in(kernel)) == count


def test_scores_are_staged_once_there_are_many() -> None:
    few, many = data(2, 64, 16), data(2, 1024, 16)
    for operand, count in ((few, 0), (many, 2)):
        *_, product = kernels_of(attention(operand, operand, operand))
        assert len(staged_in(product)) == count


def test_the_steps_of_attention_share_one_area() -> None:
    query, key, value = data(2, 40, 16), data(2, 50, 16), data(2, 50, 16)
    target = host_with(SMALL_SCORES)
    *_, loops = kernels_of(attention(query, key, value), target)
    kernel = linearize_placed(loops, placement_for(loops, target, CONFIG), CONFIG)
    first, *others = staged_in(kernel.root)
    assert shared_areas(kernel.root) == dict.fromkeys(others, first)


@pytest.mark.parametrize(
    ("shape", "vectors"),
    [((2, 1187, 40), [3, 3]), ((2, 1184, 64), [2, 2]), ((4, 1000, 80), [3, 5])],
)
def test_tiles_of_attention_fill_the_vectors_of_both_products(
    shape: tuple[int, int, int], vectors: list[int]
) -> None:
    operand = data(*shape)
    loops = kernels_of(attention(operand, operand + 1, operand), TARGET)[-1]
    placement = placement_for(loops, TARGET, CONFIG)
    tile = {number: n for number, n in placement.upcast.items() if number in placement.lanes}
    assert list(tile.values()) == vectors
    for node in loops.walk():
        if node.op is Op.RANGE and node.arg[0] in tile:
            number = node.arg[0]
            assert -(-axis_extent(node) // placement.lanes[number]) % tile[number] == 0


def test_memory_of_attention_grows_with_the_sequence() -> None:
    query = data(1, 2048, 32)
    plan = attention(query, query, query).prepare()
    assert plan.memory.peak < 4 * query.nbytes < 2048 * 2048 * 4


def test_an_area_that_is_read_again_later_is_not_shared() -> None:
    x = Tensor(data(40, 30))
    exponentials = (x - x.amax(-1, keepdim=True)).exp()
    tamed = (exponentials / exponentials.sum(-1, keepdim=True)).tanh()
    both = tamed / tamed.sum(-1, keepdim=True) * exponentials
    (kernel,) = kernels_of(both)
    assert len(staged_in(kernel)) == 2 and not shared_areas(kernel)


def test_a_tile_with_too_many_rows_is_refused() -> None:
    (kernel,) = kernels_of(Tensor(data(64, 16384)).softmax(-1))
    with raises(OptimizeError, match="bytes of scratch memory are more than"):
        linearize_placed(kernel, Placement(upcast={0: 64}), CONFIG)


# That results are right

# Each of these reads the same in PyTorch, where it is computed in float64.
ROWS: dict[str, Callable[[Any], Any]] = {
    "softmax": lambda x: x.softmax(-1),
    "softmax of columns as rows": lambda x: x.T.softmax(-1),
    "softmax of a part": lambda x: x[1:, 2:].softmax(-1) * 2,
    "norm of a root": lambda x: (x.exp() + 1).sqrt() - (x.exp() + 1).sqrt().mean(-1, True),
    "a reduction of both": lambda x: (x.softmax(-1) * x).sum(-1, True) - x.softmax(-1),
    "two staged rows": lambda x: (x.sigmoid().softmax(-1).exp() + 1).log().softmax(-1),
    "middle axis": lambda x: x.reshape(1, *x.shape, 1).softmax(2),
}


@pytest.mark.parametrize("shape", [(5, 1), (1, 300), (7, 19), (33, 64), (3, 1000)])
@pytest.mark.parametrize("name", ROWS)
def test_rows_are_right(name: str, shape: tuple[int, int]) -> None:
    values = data(*shape)
    got = ROWS[name](Tensor(values)).realize(config=CONFIG).numpy()
    wanted = ROWS[name](torch.tensor(values.astype(np.float64))).numpy()
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=1e-6)


# Rows along an axis that is two merged ones, of which either may be in lanes.
MERGED: dict[str, Callable[[Any], Any]] = {
    "repeated elements": lambda x: x.repeat_interleave(2, -1).softmax(-1),
    "columns": lambda x: x.T.flatten().softmax(-1),
    "repeated rows, sorted": lambda x: x.flatten().repeat_interleave(2, 0).sort()[0],
    "columns, sorted": lambda x: x.T.flatten().sort()[0],
    "greatest of repeated ones": lambda x: x.repeat_interleave(3, 1).topk(5)[0],
    "a product with weights": lambda x: x.repeat_interleave(2, -1).softmax(-1)
    @ x.repeat_interleave(2, -1).T,
    "variance": lambda x: x.tanh().T.flatten().var(),
    "a running sum": lambda x: x.repeat_interleave(2, -1).softmax(-1).cumsum(-1),
    "turned, of three": lambda x: x[:, :6].reshape(-1, 3, 2).mT.flatten(1).softmax(-1),
}


@pytest.mark.parametrize("shape", [(4, 8), (3, 8), (8, 7), (2, 24), (7, 7), (1, 16)])
@pytest.mark.parametrize("name", MERGED)
def test_rows_of_merged_axes_are_right(name: str, shape: tuple[int, int]) -> None:
    values = data(*shape)
    got = MERGED[name](Tensor(values)).realize(config=CONFIG).numpy()
    wanted = MERGED[name](torch.tensor(values.astype(np.float64))).numpy()
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=1e-6)


def test_the_gradient_of_rows_that_are_changed_in_part_is_right() -> None:
    values = data(100, 64)
    gradients = []
    for tensor in (Tensor(values), torch.tensor(values.astype(np.float64))):
        x: Any = tensor.requires_grad_()
        y = x.softmax(-1).clone()
        y[..., ::2] += 0.5
        (y * y).sum().backward()
        gradients.append(x.grad.numpy())
    got, wanted = gradients
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "shape",
    [
        (1, 33, 40, 16, 16),
        (3, 20, 100, 32, 24),
        (2, 64, 64, 16, 64),
        (1, 50, 37, 8, 5),
        (1, 97, 373, 40, 80),
    ],
)
def test_attention_is_right(
    shape: tuple[int, int, int, int, int], causal: bool
) -> None:
    heads, queries, keys, width, values = shape
    operands = data(heads, queries, width), data(heads, keys, width), data(heads, keys, values)
    got = attention(*operands, causal).realize(config=CONFIG_OF_SCORES).numpy()
    np.testing.assert_allclose(got, exact_attention(*operands, causal), rtol=2e-5, atol=2e-6)


def in_words(x: Tensor) -> Tensor:
    return x.sort(dim=-1)[0]


PLACED: dict[str, Callable[[], Tensor]] = {
    "softmax of repeats": lambda: Tensor(data(4, 8)).repeat_interleave(3, -1).softmax(-1),
    "softmax of merged axes": lambda: Tensor(data(5, 3, 7)).permute(0, 2, 1).flatten(1).softmax(-1),
    "sorted repeats": lambda: in_words(Tensor(data(5, 7)).repeat_interleave(3, -1)),
    "sorted merged axes": lambda: in_words(Tensor(data(3, 7)).T.flatten()),
    "softmax": lambda: Tensor(data(6, 27)).softmax(-1),
    "two staged rows": lambda: ROWS["two staged rows"](Tensor(data(9, 35))),
    "attention": lambda: attention(data(2, 13, 6), data(2, 21, 6), data(2, 21, 9)),
}


@pytest.mark.parametrize("name", PLACED)
def test_random_placements_keep_the_result(name: str) -> None:
    kernel = Kernel(PLACED[name](), host_with(SMALL_SCORES))
    assert all(staged_in(form) for form in kernel.forms)
    check(kernel, 3, 12)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_results_are_the_same_bits_for_any_number_of_threads(
    threads: int,
) -> None:
    query, rows = np.linspace(-2, 2, 3 * 60 * 16, dtype=np.float32), np.linspace(-3, 3, 90 * 200)
    operand = query.reshape(3, 60, 16)
    builders: list[Callable[[], Tensor]] = [
        lambda: attention(operand, operand * 2, operand[..., ::-1].copy()),
        lambda: Tensor(rows.reshape(90, 200)).softmax(-1),
    ]
    for build in builders:
        alone, together = [
            build().realize(config=Config(threads=count, costs=SMALL_SCORES)).numpy().tobytes()
            for count in (1, threads)
        ]
        assert alone == together


def test_a_row_of_symbolic_length_is_staged() -> None:
    values = data(40, 64)
    for length in (1, 17, 64):
        n = Variable("n", 1, 64).bind(length)
        got = Tensor(values)[:, :n].softmax(-1)
        assert len(staged_in(kernels_of(got)[-1])) == 1
        wanted = torch.tensor(values[:, :length]).softmax(-1).numpy()
        np.testing.assert_allclose(got.realize(config=CONFIG).numpy(), wanted, rtol=1e-5)


def test_a_fault_in_a_staged_value_is_reported() -> None:
    table, numbers = Tensor(data(9)), np.arange(40 * 8).reshape(40, 8) % 9
    with_fault = numbers.copy()
    with_fault[17, 5] = 9
    for chosen, faults in ((numbers, False), (with_fault, True)):
        rows = table[Tensor(chosen)].exp()
        result = rows / rows.sum(-1, keepdim=True)
        if faults:
            with raises(
                IndexError, match="outside the tensor it selects from",
                quoting=r"rows = table\[Tensor\(chosen\)\]",
            ):
                result.realize()
        else:
            assert any(staged_in(kernel) for kernel in kernels_of(result))
            np.testing.assert_allclose(result.numpy().sum(-1), 1, rtol=1e-5)


def test_a_kernel_that_stages_can_be_sent_to_a_search() -> None:
    (kernel,) = kernels_of(Tensor(data(50, 70)).softmax(-1))
    sent = Open(kernel, TARGET, 1)
    assert unpack_message(pack_message(sent)) == sent


# What the verifier says


def test_a_stage_that_is_no_stage_is_refused() -> None:
    value, position = UOp.const(dtypes.float32, 1.0), make_range(4, 0)
    first = UOp.const(dtypes.index, 0)

    def stage(*sources: UOp, argument: Any) -> UOp:
        return UOp(Op.STAGE, dtypes.float32, sources, argument)

    def staged_axis(axis: int) -> UOp:
        return UOp(Op.STAGE_AXIS, dtypes.float32, (value,), (SCRATCH, axis))

    plain = staged_row(4)
    verify(stage(value, position, position, argument=plain), "loops")
    for node, dialect, expected in (
        (stage(value, position, position, argument=None), "loops", r"\(space: str, length: int, "),
        (stage(value, value, position, argument=plain), "loops", "an index as second source"),
        (stage(value, position, value, argument=plain), "loops", "ranges to close, not CONST"),
        (stage(value, first, argument=plain), "lowered", "the count of all its elements"),
        (staged_axis(0), "region", "an axis below 0"),
        (staged_axis(0), "parametric", "not allowed here"),
        (stage(value, position, position, argument=plain), "region", "not allowed here"),
    ):
        with raises(VerifyError, match=expected):
            verify(node, dialect)
