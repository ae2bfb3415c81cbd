"""What is saved is what `onnx` checks and ONNX Runtime runs, with dynamic axes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest

import ogive
from ogive import Tensor, nn
from ogive.errors import ArgumentError, ArgumentTypeError, FileError
from tests.onnx.models import make_layer
from tests.raising import raises

onnxruntime = pytest.importorskip("onnxruntime")

Array = numpy.ndarray[Any, Any]


def draw(*shape: int) -> Array:
    return numpy.random.default_rng(sum(shape)).normal(size=shape).astype(numpy.float32)


def ids(*shape: int) -> Array:
    return numpy.random.default_rng(sum(shape)).integers(0, 20, shape)


def check(
    function: Callable[..., Any], folder: Path, *examples: Any, dynamic: Any = None
) -> Any:
    """Save with the first example; run with all of them, here and in ONNX Runtime."""
    path = folder / "saved.onnx"
    ogive.onnx.save(function, path, examples[0], dynamic=dynamic)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    session, back = onnxruntime.InferenceSession(path), ogive.onnx.load(path)
    for each in examples:
        given = each if isinstance(each, tuple) else (each,)
        wanted = function(*[Tensor(array) for array in given]).detach().numpy()
        names = [info.name for info in session.get_inputs()]
        (made,) = session.run(None, dict(zip(names, given, strict=True)))
        numpy.testing.assert_allclose(made, wanted, rtol=2e-5, atol=2e-5)
        numpy.testing.assert_allclose(back(*given).numpy(), wanted, rtol=2e-5, atol=2e-5)
    return model


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.norm = nn.BatchNorm2d(8)
        self.last = nn.Linear(8 * 4 * 4, 5)

    def forward(self, x: Tensor) -> Any:
        x = self.norm(self.depthwise(self.convolution(x))).relu().max_pool2d(2)
        return self.last(x.flatten(1)).softmax(-1)


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(20, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.last = nn.Linear(16, 3)

    def forward(self, words: Tensor) -> Any:
        return self.last(self.layer(self.table(words)))


def test_a_function_of_elements(tmp_path: Path) -> None:
    check(lambda x: (x * 2 + 1).relu().sum(0), tmp_path, draw(3, 4))


def test_a_layer_keeps_the_names_of_its_weights(tmp_path: Path) -> None:
    model = check(nn.Linear(8, 4), tmp_path, draw(3, 8), draw(7, 8), dynamic={"x": {0: "batch"}})
    assert {"weight", "bias"} <= {tensor.name for tensor in model.graph.initializer}
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"


def test_convolutions_are_convolutions(tmp_path: Path) -> None:
    images = draw(2, 3, 16, 16), draw(5, 3, 16, 16)
    model = check(Network().eval(), tmp_path, *images, dynamic={"x": {0: "batch"}})
    assert [node.op_type for node in model.graph.node].count("Conv") == 2


def test_attention_with_a_dynamic_batch_and_length(tmp_path: Path) -> None:
    axes = {"x": {0: "batch", 1: "length"}}
    check(Tagger().eval(), tmp_path, ids(2, 6), ids(3, 9), ids(1, 1), dynamic=axes)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.sort(-1)[0].cumsum(0),
        lambda x: x.std(-1).log1p() + x.var() + x.argmax(-1),
        lambda x: x.flip(1).pad([1, 2]).expm1(),
        lambda x: (x > 0).any(1).cast("float32") + (x != 0).all(1),
        lambda x: ogive.cat([x, x.floor(), x.trunc()], 1) % 0.75,
        lambda x: x[:, [2, 0]] @ x[:, 1:3].T,
        lambda x: (x * 10).cast("int64") // 3 + (x * 10).cast("int64") % 3,
        lambda x: x.logsumexp(-1) + x.erfc().amin(1) + x.abs().log2().amax(1),
        lambda x: x.topk(2, -1)[0].prod(1),
    ],
)
def test_operations(function: Callable[..., Any], tmp_path: Path) -> None:
    check(function, tmp_path, draw(3, 5))


def test_an_input_that_is_reshaped_and_cut_stays_an_input(tmp_path: Path) -> None:
    for dynamic in (None, {"x": {0: "rows"}}):
        examples = [draw(3, 4), draw(3, 4) + 1]
        check(lambda x: x.unsqueeze(1)[1:, :, 2:] * 2, tmp_path, *examples, dynamic=dynamic)
        check(lambda x: x.reshape(-1) * 2, tmp_path, *examples, dynamic=dynamic)


def test_several_inputs_and_outputs_have_names(tmp_path: Path) -> None:
    path = tmp_path / "named.onnx"
    given = Tensor(draw(3, 4)), Tensor(draw(4))
    ogive.onnx.save(
        lambda a, b: (a + b, a * b), path, given, inputs=["a", "b"], outputs=["sum", "product"]
    )
    made = ogive.onnx.load(path).run({"a": given[0], "b": given[1]})
    assert list(made) == ["sum", "product"]
    numpy.testing.assert_array_equal(made["sum"].numpy(), (given[0] + given[1]).numpy())


def test_a_loaded_model_is_saved_as_it_was(tmp_path: Path) -> None:
    raw = make_layer().SerializeToString()
    ogive.onnx.save(ogive.onnx.load(raw), tmp_path / "same.onnx")
    assert onnx.load(tmp_path / "same.onnx") == make_layer()


def test_a_model_that_was_trained_further_has_its_new_weights(tmp_path: Path) -> None:
    model = ogive.onnx.TrainableModel(ogive.onnx.load(make_layer().SerializeToString()))
    x, wanted = Tensor(draw(6, 8)), Tensor(draw(6, 200))
    optimizer = ogive.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = ((model(x) - wanted) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[2] < losses[0]
    path = tmp_path / "trained.onnx"
    ogive.onnx.save(model, path)
    session = onnxruntime.InferenceSession(path)
    (made,) = session.run(None, {"x": x.numpy()})
    numpy.testing.assert_allclose(made, model(x).detach().numpy(), rtol=1e-5, atol=1e-5)


def test_what_is_no_standard_operator_is_named(tmp_path: Path) -> None:
    with raises(ArgumentError, match="ATAN2"):
        ogive.onnx.save(lambda x: x.atan2(x), tmp_path / "x.onnx", Tensor(draw(3)))


def test_what_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    with raises(ArgumentTypeError, match="not int"):
        ogive.onnx.save(5, tmp_path / "x.onnx", Tensor(draw(3)))  # type: ignore[arg-type]
    with raises(ArgumentError, match="takes an example"):
        ogive.onnx.save(lambda x: x, tmp_path / "x.onnx")
    with raises(ArgumentError, match="dynamic axes of"):
        ogive.onnx.save(lambda x: x, tmp_path / "x.onnx", Tensor(draw(3)), dynamic={"z": {0: "n"}})
    with raises(FileError, match="cannot be written"):
        ogive.onnx.save(lambda x: x + 1, tmp_path / "no" / "x.onnx", Tensor(draw(3)))


@pytest.mark.parametrize("kind", ["module", "loaded"])
def test_weights_are_written_to_a_file_beside(kind: str, tmp_path: Path) -> None:
    layer, x, path = nn.Linear(64, 32), draw(3, 64), tmp_path / "model.onnx"
    saved: Any = layer
    if kind == "loaded":
        ogive.onnx.save(layer, tmp_path / "whole.onnx", x)
        saved = ogive.onnx.load(tmp_path / "whole.onnx")
    ogive.onnx.save(saved, path, x, external=True)
    assert path.stat().st_size < 1024 < 64 * 32 * 4 <= (tmp_path / "model.onnx.data").stat().st_size
    onnx.checker.check_model(str(path), full_check=True)
    (made,) = onnxruntime.InferenceSession(path).run(None, {"x": x})
    numpy.testing.assert_allclose(made, layer(Tensor(x)).detach().numpy(), rtol=2e-5, atol=2e-5)
    numpy.testing.assert_allclose(ogive.onnx.load(path)(x).numpy(), made, rtol=2e-5, atol=2e-5)


def test_a_model_with_weights_beside_is_saved_over_itself(tmp_path: Path) -> None:
    layer, x, path = nn.Linear(64, 32), draw(3, 64), tmp_path / "model.onnx"
    ogive.onnx.save(layer, path, x, external=True)
    ogive.onnx.save(ogive.onnx.load(path), path, external=True)
    (made,) = onnxruntime.InferenceSession(path).run(None, {"x": x})
    numpy.testing.assert_allclose(made, layer(Tensor(x)).detach().numpy(), rtol=2e-5, atol=2e-5)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["model.onnx", "model.onnx.data"]


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    def fails(x: Tensor) -> Tensor:
        raise ValueError("no")

    for external in (False, True):
        with raises(ValueError, match="no"):
            ogive.onnx.save(fails, tmp_path / "model.onnx", draw(3), external=external)
    assert not list(tmp_path.iterdir())
