"""What `ogive.torch` means where `ogive` follows the array API standard: what PyTorch does."""

from __future__ import annotations

import collections
import io
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive
import ogive.torch as torch
from ogive.errors import DeviceError
from tests.raising import raises

BOTH = [pytorch, torch]
VALUES = [[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]]


def same(program: Any) -> None:
    """A program gives in both what numpy shows as the same numbers and dtypes."""
    wanted, found = (program(library) for library in BOTH)
    wanted, found = (
        [each] if not isinstance(each, tuple | list) else each for each in (wanted, found)
    )
    assert len(wanted) == len(found)
    for one, other in zip(wanted, found, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(other), numpy.asarray(one), rtol=1e-6)
        assert numpy.asarray(other).dtype == numpy.asarray(one).dtype


@pytest.mark.parametrize(
    "program",
    [
        lambda t: t.meshgrid(t.tensor([1, 2]), t.tensor([3, 4, 5])),
        lambda t: [t.std(t.tensor(VALUES)), t.var(t.tensor(VALUES), dim=1)],
        lambda t: [t.nonzero(t.tensor([[1, 0], [0, 1]])), t.argwhere(t.tensor([0, 1]))],
        lambda t: t.nonzero(t.tensor([[1, 0], [0, 1]]), as_tuple=True),
        lambda t: t.sort(t.tensor(VALUES), dim=1, descending=True),
        lambda t: t.topk(t.tensor(VALUES), 2),
        lambda t: t.max(t.tensor(VALUES), 1),
        lambda t: t.max(t.tensor(VALUES)),
        lambda t: t.max(t.tensor([1.0, 5.0]), t.tensor([2.0, 3.0])),
        lambda t: t.min(t.tensor(VALUES), dim=0, keepdim=True),
        lambda t: t.median(t.tensor(VALUES), dim=1),
        lambda t: t.mode(t.tensor([[1, 1, 2]])),
        lambda t: t.pow(2, t.tensor([1.0, 2.0])),
        lambda t: t.vander(t.tensor([1, 2, 3])),
        lambda t: t.embedding(t.tensor(VALUES), t.tensor([1, 0])),
        lambda t: t.pdist(t.tensor(VALUES)),
        lambda t: t.fill(t.tensor(VALUES), 3),
        lambda t: t.autograd.functional.hvp(
            lambda x: (x**3).sum(), t.tensor([1.0, 2.0]), t.tensor([1.0, 2.0])
        ),
        lambda t: t.autograd.functional.jacobian(lambda x: x**2, t.tensor([1.0, 2.0])),
        lambda t: t.autograd.functional.hessian(lambda x: (x**3).sum(), t.tensor([1.0, 2.0])),
        lambda t: t.where(t.tensor([True, False]), 1.0, 2.0),
        lambda t: t.add(t.tensor([1.0]), t.tensor([2.0]), alpha=3, out=t.empty(1)),
        lambda t: t.cat((t.ones(1), t.zeros(1)), dim=0, out=t.empty(2)),
    ],
)
def test_a_function_means_what_pytorch_means(program: Any) -> None:
    same(program)


def test_an_empty_out_takes_the_shape_of_the_result() -> None:
    def program(t: Any) -> Any:
        out, most = t.empty(0), (t.empty(0), t.empty(0, dtype=t.int64))
        given = t.cat((t.ones(2, 3), t.zeros(2, 3)), out=out)
        t.max(t.tensor(VALUES), 1, out=most)
        return [given, out, *most]

    same(program)


def test_functions_of_modules_take_out() -> None:
    def program(t: Any) -> Any:
        matrix, out = t.tensor([[4.0, 2.0], [2.0, 3.0]]), t.empty(2, 2)
        factor, info = t.empty(2, 2), t.empty((), dtype=t.int32)
        t.linalg.inv(matrix, out=out)
        t.linalg.cholesky_ex(matrix, out=(factor, info))
        waves, steps = t.empty(2, 2, dtype=t.complex64), t.empty(0)
        t.fft.fft(matrix, out=waves)
        t.special.expit(matrix, out=steps)
        return [out, factor, info, t.view_as_real(waves), steps]

    same(program)


def test_an_out_of_another_shape_is_refused_and_keeps_its_values() -> None:
    out = torch.ones(2, 3)
    with raises(ogive.errors.ArgumentTypeError, match="cannot be resized"):
        torch.sum(torch.ones(2, 3), 0, out=out)
    assert out.tolist() == [[1.0] * 3] * 2


@pytest.mark.parametrize(
    "data",
    [1, 1.5, True, [1, 2], [1.0, 2], numpy.ones(1), numpy.ones(1, dtype="int32"), (1, 2), range(3)],
    ids=str,
)
def test_tensor_has_the_dtype_that_pytorch_gives(data: Any) -> None:
    same(lambda t: t.tensor(data))


def test_tensor_takes_a_deque_and_scalar_tensors() -> None:
    assert torch.tensor(collections.deque([1, 2])).tolist() == [1, 2]
    assert torch.tensor([torch.tensor(1.5), torch.tensor(2.5)]).tolist() == [1.5, 2.5]


def test_a_named_pair_has_values_and_indices() -> None:
    found = torch.sort(torch.tensor([3, 1, 2]))
    assert found.values.tolist() == [1, 2, 3]
    assert found.indices.tolist() == [1, 2, 0]


def test_constructors_take_sizes_or_values() -> None:
    assert torch.Tensor(2, 3).shape == (2, 3)
    assert torch.Tensor([2, 3]).dtype is torch.float32
    assert torch.LongTensor([1, 2]).dtype is torch.int64
    assert torch.FloatTensor(numpy.ones(1)).dtype is torch.float32
    assert torch.Tensor().shape == (0,)


def test_isinstance_knows_tensors_by_kind() -> None:
    x = ogive.ones(2)
    assert isinstance(x, torch.Tensor)
    assert isinstance(x, torch.FloatTensor)
    assert not isinstance(x, torch.LongTensor)
    assert not isinstance([1.0], torch.Tensor)
    assert isinstance(torch.nn.Parameter(x), torch.Tensor)


def test_sizes_count_as_tuples_and_tuples_as_sizes() -> None:
    assert torch.Size([2, 3]) == torch.ones(2, 3).shape
    assert torch.Size([2, 3]).numel() == 6
    assert isinstance(torch.ones(2, 3).size(), torch.Size)


def test_a_device_has_its_type() -> None:
    x = torch.ones(2, device=torch.device("cpu"))
    assert x.device.type == "cpu"
    assert isinstance(x.device, torch.device)
    assert x.to(torch.device("cpu:0")).device == x.device


def test_a_device_may_be_named_that_is_not_there_and_is_refused_where_it_is_used() -> None:
    device = torch.device("mps:0")
    assert (device.type, device.index) == ("mps", 0)
    assert isinstance(device, torch.device)
    with raises(DeviceError, match="there is no MPS here"):
        torch.ones(2, device=device)
    with raises(DeviceError, match="unknown device 'cup'"):
        torch.device("cup")


def test_a_kind_of_tensor_has_its_name_and_converts() -> None:
    x = torch.ones(2)
    for library in BOTH:
        ones = library.ones(2)
        assert ones.type() == "torch.FloatTensor"
        assert ones.type("torch.LongTensor").dtype is library.int64
        assert ones.type(library.DoubleTensor).dtype is library.float64
        assert ones.type(library.int32).dtype is library.int32
    assert x.pin_memory() is x
    assert not x.is_pinned()


@pytest.mark.skipif(ogive.cuda.is_available(), reason="there is one")
def test_cuda_says_that_there_is_none() -> None:
    for move in (
        torch.ones(2).cuda, torch.nn.Linear(1, 1).cuda, lambda: torch.nn.ReLU().to("cuda:0")
    ):  # fmt: skip
        with raises(RuntimeError, match=r"there is no NVIDIA driver|finds no GPU"):
            move()


def test_ways_for_memory_to_lie_are_accepted() -> None:
    x, layer = torch.ones(1, 2, 2, 2), torch.nn.Conv2d(2, 1, 1)
    for made in (
        x.to(memory_format=torch.channels_last),
        x.contiguous(memory_format=torch.channels_last),
        x.clone(memory_format=torch.preserve_format),
        torch.zeros_like(x, memory_format=torch.preserve_format),
        torch.empty(1, 2, 2, 2, pin_memory=False, layout=torch.strided),
    ):
        assert made.shape == x.shape
    assert layer.to(memory_format=torch.channels_last) is layer
    assert layer.to(torch.device("cpu"), non_blocking=True) is layer


def test_errors_are_runtime_errors_where_pytorchs_are() -> None:
    for library in BOTH:
        with pytest.raises(RuntimeError):
            library.ones(2, 3) @ library.ones(2, 3)
        with pytest.raises(RuntimeError):
            library.nn.Linear(2, 2).load_state_dict({"weight": library.ones(1)})
        with pytest.raises(RuntimeError):
            library.device("nonsense")
        with pytest.raises(RuntimeError):
            library.ones(4).view(3)
        with pytest.raises(RuntimeError):
            library.ones(3).gather(0, library.tensor([3]))
        with pytest.raises(RuntimeError):
            library.ones(3).topk(4)
        with pytest.raises(RuntimeError):
            library.ones(2, 3).permute(0, 0)


def test_a_file_that_is_not_there_raises_what_open_raises(tmp_path: Path) -> None:
    for library in BOTH:
        with pytest.raises(FileNotFoundError):
            library.load(tmp_path / "none.pt")
    with pytest.raises(FileNotFoundError):
        ogive.Tensor.from_file(tmp_path / "none", (1,), "float32")


@pytest.mark.parametrize("make", [lambda m: m.arange(0, 5, -1), lambda m: m.arange(5, 0)])
def test_a_range_that_runs_the_other_way_is_refused(make: Any) -> None:
    for library in BOTH:
        with raises(RuntimeError, match="step"):
            make(library)


def test_dense_tensors_are_strided_and_asking_settles_nothing() -> None:
    x = torch.ones(2, 3)
    assert x.layout is torch.strided
    assert torch.nn.Linear(1, 1).weight.layout == torch.strided
    assert x.is_eager
    assert torch.zeros_like(x, layout=x.layout).is_eager


def test_the_values_of_what_requires_gradients_are_asked_for_by_detach_or_force() -> None:
    for library in BOTH:
        x = library.ones(2, requires_grad=True)
        for each in (x, x * 2, library.nn.Linear(1, 1).weight):
            with raises(RuntimeError, match=r"detach\(\)"):
                each.numpy()
            with raises(RuntimeError, match=r"detach\(\)"):
                numpy.asarray(each)
            assert each.detach().numpy().shape == each.shape
            assert each.numpy(force=True).shape == each.shape
        with library.no_grad():
            assert (x * 2).numpy().tolist() == [2.0, 2.0]


def test_what_a_transform_gives_is_an_array_without_detach() -> None:
    for library in BOTH:
        x = library.ones(2)
        value, pull = library.func.vjp(lambda x: x.exp(), x)
        hessian = library.func.hessian(lambda x: x.exp().sum())(x)
        for each in (value, pull(x)[0], hessian):
            assert each.numpy().shape == each.shape


def test_the_default_dtype_is_that_of_floats_and_creation() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.get_default_dtype() is torch.float64
        for made in (torch.tensor([1.5]), torch.zeros(2), torch.rand(2), torch.Tensor(2)):
            assert made.dtype is torch.float64
        assert torch.tensor([1]).dtype is torch.int64
        assert torch.ones(2, dtype=torch.float32).dtype is torch.float32
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.zeros(2).dtype is torch.float32


@pytest.mark.parametrize("writer, reader", [(torch, pytorch), (pytorch, torch), (torch, torch)])
def test_files_of_any_suffix_go_between_the_libraries(
    writer: Any, reader: Any, tmp_path: Path
) -> None:
    kept = {"weights": [writer.arange(3), writer.ones(2, 2)], "epoch": 4}
    writer.save(kept, tmp_path / "state.bin")
    file = io.BytesIO()
    writer.save(kept, file)
    file.seek(0)
    for source in (tmp_path / "state.bin", file):
        found = reader.load(source, map_location="cpu", weights_only=True)
        assert found["epoch"] == 4
        assert [each.tolist() for each in found["weights"]] == [[0, 1, 2], [[1.0, 1.0], [1.0, 1.0]]]


def test_a_loaded_tensor_outlives_its_file(tmp_path: Path) -> None:
    torch.save({"x": torch.arange(3)}, tmp_path / "x.pt")
    found = torch.load(tmp_path / "x.pt")
    (tmp_path / "x.pt").unlink()
    assert found["x"].tolist() == [0, 1, 2]


def test_draws_repeat_from_a_seed_and_from_a_generator() -> None:
    torch.manual_seed(3)
    first = torch.randn(3).tolist()
    torch.manual_seed(3)
    assert torch.randn(3).tolist() == first
    generator = torch.Generator(device="cpu").manual_seed(5)
    drawn = torch.rand(2, generator=generator).tolist()
    assert torch.rand(2, generator=torch.Generator().manual_seed(5)).tolist() == drawn
    with torch.random.fork_rng():
        inside = torch.rand(1).item()
    assert torch.rand(1).item() == inside


@pytest.mark.skipif(ogive.cuda.is_available(), reason="there is one")
def test_mixed_precision_for_cuda_casts_nothing() -> None:
    x = torch.ones(2, 2)
    for context in (torch.autocast("cuda"), torch.cuda.amp.autocast(), torch.amp.autocast("cuda")):
        with context:
            assert (x @ x).dtype is torch.float32
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (x @ x).dtype is torch.bfloat16


def test_switches_of_absent_libraries_keep_their_values() -> None:
    torch.backends.cudnn.benchmark = True
    assert torch.backends.cudnn.benchmark is True
    assert not torch.backends.mps.is_available()
    assert torch.cuda.device_count() == ogive.cuda.device_count()
    torch.cuda.manual_seed_all(3)


def test_a_scalar_comes_out_as_an_array() -> None:
    assert isinstance(ogive.ones(3).sum().numpy(), numpy.ndarray)
    assert numpy.asarray(ogive.ones(3).sum()).shape == ()


@pytest.mark.parametrize("shape", [(1, 1), (4,), (), (3, 1)])
def test_a_gradient_of_a_function_is_summed_over_what_was_repeated(shape: tuple[int, ...]) -> None:
    def program(t: Any) -> Any:
        class Scaled(t.autograd.Function):  # type: ignore[misc]
            @staticmethod
            def forward(ctx: Any, scale: Any, x: Any) -> Any:
                ctx.save_for_backward(scale, x)
                return scale * x

            @staticmethod
            def backward(ctx: Any, given: Any) -> Any:
                scale, x = ctx.saved_tensors
                return given * x, given * scale

        scale = t.full(shape, 2.0).requires_grad_()
        x = t.arange(12.0).reshape(3, 4).requires_grad_()
        Scaled.apply(scale, x).square().sum().backward()
        return [scale.grad, x.grad]

    same(program)
