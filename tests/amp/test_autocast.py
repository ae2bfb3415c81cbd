"""`autocast` as a context: where it holds, what it costs, and how far values are from PyTorch's."""

from __future__ import annotations

import threading
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor, nn, optim
from ogive.errors import DeviceError, DtypeError
from tests.raising import raises


def floats(*shape: int) -> Tensor:
    return Tensor(numpy.random.default_rng(5).normal(size=shape).astype(numpy.float32))


def test_contexts_nest_and_can_be_switched_off() -> None:
    x = floats(3, 3)
    with ogive.autocast(dtype=ogive.bfloat16):
        assert (x @ x).dtype is ogive.bfloat16 and ogive.is_autocast_enabled()
        with ogive.amp.autocast("cpu", dtype=ogive.float16):
            assert (x @ x).dtype is ogive.float16
            assert ogive.get_autocast_dtype("cpu") is ogive.float16
            with ogive.autocast(enabled=False):
                assert (x @ x).dtype is ogive.float32 and not ogive.is_autocast_enabled()
        assert (x @ x).dtype is ogive.bfloat16
        assert (x.double() @ x.double()).dtype is ogive.float64
        assert (x.int() @ x.int()).dtype is ogive.int32
    assert (x @ x).dtype is ogive.float32 and not ogive.is_autocast_enabled()


def test_an_error_inside_leaves_the_context() -> None:
    x = floats(3, 3)
    with pytest.raises(ogive.errors.ShapeError), ogive.autocast():
        x @ floats(2, 2)
    assert (x @ x).dtype is ogive.float32


def test_a_decorated_function_runs_in_the_thread_that_calls_it() -> None:
    x = floats(3, 3)
    inside, outside = threading.Barrier(2), threading.Barrier(2)
    found = []

    @ogive.autocast(dtype=ogive.bfloat16)
    def multiply() -> Any:
        inside.wait(10)
        outside.wait(10)
        return (x @ x).dtype

    thread = threading.Thread(target=lambda: found.append(multiply()))
    thread.start()
    inside.wait(10)
    assert (x @ x).dtype is ogive.float32
    outside.wait(10)
    thread.join()
    assert found == [ogive.bfloat16]


def test_values_are_those_of_products_in_bfloat16() -> None:
    x, w, b = floats(4, 7), floats(5, 7), floats(5)
    with ogive.autocast(dtype=ogive.bfloat16):
        y = x.linear(w, b)
    low = [part.cast(ogive.bfloat16) for part in (x, w, b)]
    assert y.tolist() == low[0].linear(*low[1:]).tolist()


def test_a_captured_function_is_traced_once_for_each_dtype(
    capsys: pytest.CaptureFixture[str],
) -> None:
    x = floats(3, 3)
    square = ogive.jit(lambda x: x @ x)
    ogive.configure(log="recompile")
    try:
        for _ in range(3):
            assert square(x).dtype is ogive.float32
            with ogive.autocast(dtype=ogive.bfloat16):
                assert square(x).dtype is ogive.bfloat16
                with ogive.no_grad():
                    assert square(x).dtype is ogive.bfloat16
            with ogive.autocast(dtype=ogive.float16):
                assert square(x).dtype is ogive.float16
    finally:
        ogive.configure(log="")
    assert square.cache_info().traces == 4
    assert "autocast: absent → bfloat16" in capsys.readouterr().err

    @ogive.jit
    def inside(x: Tensor) -> Tensor:
        with ogive.autocast():
            return x @ x

    assert inside(x).dtype is inside(x).dtype is ogive.bfloat16
    assert inside.cache_info().traces == 1


def make(library: Any, weights: list[Any]) -> Any:
    model = library.nn.Sequential(
        library.nn.Conv2d(1, 4, 3), library.nn.ReLU(), library.nn.Flatten(),
        library.nn.LayerNorm(64), library.nn.Linear(64, 3),
    )  # fmt: skip
    names = list(model.state_dict())
    tensor = Tensor if library is ogive else torch.tensor
    model.load_state_dict({n: tensor(w) for n, w in zip(names, weights, strict=True)})
    return model


@pytest.mark.parametrize("captured", [False, True])
def test_a_model_is_trained_as_pytorch_trains_it(captured: bool) -> None:
    random = numpy.random.default_rng(3)
    shapes = [(4, 1, 3, 3), (4,), (64,), (64,), (3, 64), (3,)]
    weights = [(random.normal(size=shape) / 4).astype(numpy.float32) for shape in shapes]
    images = random.normal(size=(6, 1, 6, 6)).astype(numpy.float32)
    labels = random.integers(0, 3, size=6)
    histories = []
    for library, tensor in ((ogive, Tensor), (torch, torch.tensor)):
        model = make(library, weights)
        optimizer = (optim if library is ogive else torch.optim).SGD(model.parameters(), lr=0.1)
        criterion = library.nn.CrossEntropyLoss()

        def step(
            x: Any, y: Any, model: Any = model, optimizer: Any = optimizer,
            criterion: Any = criterion, library: Any = library,
        ) -> Any:  # fmt: skip
            optimizer.zero_grad()
            with library.autocast("cpu", dtype=library.bfloat16):
                output = model(x)
                loss = criterion(output, y)
            assert output.dtype is library.bfloat16 and loss.dtype is library.float32
            loss.backward()
            assert all(p.grad.dtype is library.float32 for p in model.parameters())
            optimizer.step()
            return loss

        run = ogive.jit(step) if captured and library is ogive else step
        x, y = tensor(images), tensor(labels)
        histories.append([run(x, y).item() for _ in range(6)])
    ours, theirs = histories
    numpy.testing.assert_allclose(ours, theirs, rtol=3e-2)
    assert ours[-1] < ours[0]


def test_values_asked_for_inside_are_computed_as_they_were_built_outside() -> None:
    x = Tensor(numpy.random.default_rng(0).normal(size=(9, 9)).astype("float32"))
    weights = (x * 2).clone().requires_grad_()
    product = x @ weights
    loss = product.softmax(-1)[0, 0]
    loss.backward()
    assert weights.grad is not None
    with ogive.autocast("cpu", dtype=ogive.bfloat16):
        values, gradient = product.numpy(), weights.grad.numpy()
    expected = torch.tensor((x * 2).numpy(), requires_grad=True)
    theirs = torch.tensor(x.numpy()) @ expected
    theirs.softmax(-1)[0, 0].backward()
    numpy.testing.assert_allclose(values, theirs.detach().numpy(), rtol=1e-4, atol=1e-5)
    numpy.testing.assert_allclose(gradient, expected.grad.numpy(), rtol=1e-4, atol=1e-6)


def test_recurrent_layers_give_the_dtypes_of_pytorchs() -> None:
    def dtype_of(library: Any, name: str) -> str:
        layer = getattr(library.nn, name)(5, 3)
        with library.autocast("cpu", dtype=library.bfloat16):
            made = layer(library.ones(2, 5) if "Cell" in name else library.ones(4, 2, 5))
        first = made[0] if isinstance(made, tuple) else made
        return str(first.dtype).split(".")[1]

    for name in ("RNN", "GRU", "LSTMCell", "GRUCell"):
        assert dtype_of(ogive, name) == dtype_of(torch, name), name
    # PyTorch's has none for processors without instructions for bfloat16.
    assert dtype_of(ogive, "LSTM") == "bfloat16"


def test_other_dtypes_and_devices_are_refused() -> None:
    with raises(DtypeError, match="computes in bfloat16 or float16, not in float32"):
        ogive.autocast(dtype=ogive.float32)
    with raises(DeviceError, match="unknown device 'xpu'"):
        ogive.autocast("xpu")


def test_examples_of_wrapped_functions_are_found() -> None:
    assert "Shapes" in (nn.functional.mse_loss.__doc__ or "")
    assert Tensor.matmul.__module__ == "ogive.tensor.linear_algebra.matrix_product"
