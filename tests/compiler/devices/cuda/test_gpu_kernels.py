"""What GPUs compute is what the CPU and NumPy do: an emulated one, and a real one if there is."""

from __future__ import annotations

import gc
from collections.abc import Callable

import numpy as np
import pytest

import ogive
from ogive import Tensor
from ogive.compiler.devices.buffer import Buffer
from ogive.errors import AllocateError, DivisionByZeroError, IndexRangeError
from tests.raising import raises
from tests.random_programs import config_for, generate, run


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: (x * 2 + 1).exp(),
        lambda x: x.softmax(-1),
        lambda x: x.softmax(0),
        lambda x: x @ x.T,
        lambda x: x.layer_norm((x.shape[-1],)),
        lambda x: x.sum(),
        lambda x: x.mean(0),
        lambda x: x.T.contiguous(),
        lambda x: x.sort(-1)[0],
        lambda x: x.argsort(0),
        lambda x: x.cumsum(1),
        lambda x: x.sin() + x.double().log().float(),
        lambda x: (x.cast("bfloat16") * 3).float(),
        lambda x: x.pad(((1, 2), (0, 3))),
        lambda x: x[:, ::2].flip(0) + 1,
        lambda x: x.max(0)[0] + x.argmin(0),
    ],
)
@pytest.mark.parametrize("shape", [(5, 7), (33, 130), (1, 3), (0, 4)])
def test_a_gpu_gives_what_the_cpu_gives(
    gpu: str, compute: Callable[[Tensor], Tensor], shape: tuple[int, ...]
) -> None:
    x = np.random.default_rng(5).uniform(0.1, 1, shape).astype(np.float32)
    try:
        expected = compute(Tensor(x)).numpy()
    except ogive.errors.OgiveError as error:
        with pytest.raises(type(error)):
            compute(Tensor(x, device=gpu)).numpy()
        return
    result = compute(Tensor(x, device=gpu))
    assert result.device == gpu
    np.testing.assert_allclose(result.numpy(), expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("shape, order", [
    ((64, 64), (1, 0)), ((100, 70), (1, 0)), ((3, 130, 65), (2, 1, 0)), ((65, 3, 200), (1, 2, 0)),
])  # fmt: skip
def test_transposes_go_through_squares(
    gpu: str, shape: tuple[int, ...], order: tuple[int, ...]
) -> None:
    x = np.random.default_rng(1).random(shape, np.float32)
    beside = np.random.default_rng(2).random([shape[axis] for axis in order], np.float32)
    moved = Tensor(x, device=gpu).permute(*order)
    np.testing.assert_array_equal(moved.contiguous().numpy(), x.transpose(order))
    result = (moved * 2 + Tensor(beside, device=gpu)).numpy()
    np.testing.assert_array_equal(result, x.transpose(order) * 2 + beside)


@pytest.mark.parametrize("rows, terms, columns", [(64, 32, 64), (100, 50, 70), (130, 17, 65)])
def test_products_of_floats_go_through_squares(
    gpu: str, rows: int, terms: int, columns: int
) -> None:
    draw = np.random.default_rng(3)
    a, b = draw.random((rows, terms), np.float32), draw.random((terms, columns), np.float32)
    for left in (Tensor(a, device=gpu), Tensor(a.T.copy(), device=gpu).T):
        for right in (Tensor(b, device=gpu), Tensor(b.T.copy(), device=gpu).T):
            product = (left @ right).relu() + 1
            expected = a.astype(np.float64) @ b + 1
            np.testing.assert_allclose(product.numpy(), expected, rtol=1e-6 * terms)


@pytest.mark.parametrize("shape", [(3, 32), (2, 33), (4, 31), (1, 700), (2, 3, 300)])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32", "float64", "bfloat16"])
def test_a_warp_scans_a_row(gpu: str, shape: tuple[int, ...], dtype: str) -> None:
    values = np.random.default_rng(3).integers(-3, 4, shape)
    x = Tensor(values).cast(dtype).realize()
    scans: list[Callable[[Tensor], Tensor]] = [
        lambda x: x.cumsum(-1),
        lambda x: x.flip(-1).cumsum(-1) * 2,
        lambda x: x.cummax(-1)[0],
        lambda x: (x - 1).clamp(-1, 1).cumprod(-1),
    ]
    for scan in scans:
        found, expected = [scan(each).cast("float64").numpy() for each in (x.to(gpu), x)]
        np.testing.assert_array_equal(found, expected)


def test_a_scan_along_memory_has_a_warp_for_each_row(gpu: str) -> None:
    plan = ogive.zeros(5, 300, device=gpu).realize().cumsum(1).prepare()
    assert [kernel.name for kernel in plan.kernels] == ["scan_parallel5_loop2_upcast8_thread32"]


def test_memory_that_begins_anywhere_is_read_and_written(gpu: str) -> None:
    x = Tensor(np.arange(1000, dtype=np.float32), device=gpu).realize()
    for start in (1, 2, 3):
        part = x[start : start + 900]
        np.testing.assert_array_equal((part + 1).numpy(), np.arange(start + 1, start + 901))
        assert part.sum().item() == np.arange(start, start + 900).sum()
    x[3:903] *= 2
    assert x[2:5].tolist() == [2, 6, 8] and x[903].item() == 903


def test_draws_have_the_bits_of_the_cpu(gpu: str) -> None:
    ogive.manual_seed(3)
    expected = ogive.randn(100, 7).numpy()
    ogive.manual_seed(3)
    np.testing.assert_array_equal(ogive.randn(100, 7, device=gpu).numpy(), expected)


def test_keys_fold_in_numbers_of_a_gpu(gpu: str) -> None:
    key = ogive.random.key(5)
    there = ogive.random.fold_in(key, ogive.arange(100, device=gpu))
    assert (there.numpy() == ogive.random.fold_in(key, ogive.arange(100)).numpy()).all()


def test_a_fault_names_the_line_and_leaves_the_device_in_order(gpu: str) -> None:
    x = Tensor([1, 2, 3], device=gpu)
    with raises(
        IndexRangeError, match="outside the tensor it selects from", quoting=r"test_gpu_kernels\.py"
    ):
        x[Tensor([0, 5], device=gpu)].numpy()
    with pytest.raises(DivisionByZeroError):
        (x // Tensor([1, 0, 2], device=gpu)).numpy()
    assert (x + 1).numpy().tolist() == [2, 3, 4]


def test_assignments_scatters_and_copies_work(gpu: str) -> None:
    x = Tensor(np.zeros((4, 3), np.float32), device=gpu)
    x[1] = 5.0
    x[:, 2] += Tensor([1.0, 2.0, 3.0, 4.0], device=gpu)
    x.index_add_(0, Tensor([0, 0, 3], device=gpu), Tensor(np.ones((3, 3), "float32"), device=gpu))
    moved = (x.to("CPU") + 1).to(gpu)
    assert moved.device == gpu
    assert moved.numpy().tolist() == [[3, 3, 4], [6, 6, 8], [1, 1, 4], [2, 2, 6]]


def test_memory_is_counted_held_and_given_back(gpu: str) -> None:
    x = (Tensor(np.ones(1000, np.float32), device=gpu) + 1).realize()
    used = ogive.cuda.memory_allocated(gpu)
    assert used >= 4000
    del x
    assert ogive.cuda.memory_allocated(gpu) < used <= ogive.cuda.memory_reserved(gpu)
    ogive.cuda.empty_cache(gpu)
    assert ogive.cuda.memory_reserved(gpu) == ogive.cuda.memory_allocated(gpu)


def test_memory_of_dead_cycles_is_handed_out_again(gpu: str) -> None:
    cycle: list[object] = [buffer := Buffer(12_345, gpu)]
    cycle.append(cycle)
    address = buffer.address
    del cycle, buffer
    gc.collect()
    again = Buffer(12_345, gpu)
    assert again.address == address
    again.copy_from(bytes(12_345))


def test_a_captured_step_keeps_what_others_read(gpu: str) -> None:
    weight = Tensor(np.ones(4, np.float32), device=gpu).realize()
    step = ogive.jit(lambda x: weight.sub_(x))
    for _ in range(3):
        kept = weight.clone()
        before = kept.tolist()
        step(Tensor(np.ones(4, np.float32), device=gpu))
        assert kept.tolist() == before


def test_a_tensor_that_does_not_fit_is_refused_and_the_next_one_works(gpu: str) -> None:
    with raises(AllocateError, match=f"bytes of {gpu} memory; free other tensors"):
        ogive.zeros(1 << 40, device=gpu).realize()
    assert ogive.ones(3, device=gpu).sum().item() == 3


def test_the_device_of_the_settings_is_where_tensors_are_made(gpu: str) -> None:
    before = ogive.config.current_config().device
    ogive.configure(device=gpu)
    try:
        assert Tensor([1.0]).device == ogive.rand(2).device == gpu
        assert ogive.nn.Linear(2, 3)(ogive.ones(4, 2)).device == gpu
    finally:
        ogive.configure(device=before)
    assert Tensor([1.0]).device == "CPU"


@pytest.mark.parametrize("group", range(2))
def test_random_programs_give_what_numpy_gives(gpu: str, group: int) -> None:
    for seed in range(10 * group, 10 * (group + 1)):
        run(generate(seed, 14), config_for(seed), gpu)
