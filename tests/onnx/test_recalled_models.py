"""A model that was captured before runs from what is on disk, and is the same model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from onnx import helper

import ogive
from ogive.compiler.engine.caches.general_graphs import general_graphs
from ogive.compiler.engine.caches.graph_cache import graph_cache
from ogive.compiler.engine.caches.kernel_cache import kernel_cache
from ogive.compiler.store.compiler_version import COMPILER, LIBRARY
from ogive.compiler.store.open_stores import open_stores
from ogive.compiler.store.rows import Kind
from ogive.errors import DivisionByZeroError, FileError
from tests.onnx.models import make_layer, make_model
from tests.raising import raises
from tests.test_imports import ALLOWED, is_package, part_of


@pytest.fixture(autouse=True)
def folder(own_cache: str) -> str:
    forget()
    return own_cache


def forget() -> None:
    """What a new process does not know."""
    graph_cache.clear()
    kernel_cache.clear()
    general_graphs.clear()


def draw(*shape: int, seed: int = 1) -> Any:
    return numpy.random.default_rng(seed).normal(size=shape).astype(numpy.float32)


def was_recalled(model: ogive.onnx.Model) -> bool:
    """Whether a model has run without a graph."""
    return model._file._graph is None


def make_product(weight: Any, factor: float = 2.0) -> bytes:
    """relu(x @ weight) * factor, whose weight is too large for the digest of the file."""
    nodes = [
        helper.make_node("Identity", ["w"], ["same"]),
        helper.make_node("MatMul", ["x", "same"], ["product"]),
        helper.make_node("Relu", ["product"], ["positive"]),
        helper.make_node("Mul", ["positive", "factor"], ["y"]),
    ]
    weights = {"w": weight, "factor": numpy.float32(factor).reshape(1)}
    made: bytes = make_model(
        nodes, {"x": (1, ["rows", 64])}, {"y": (1, ["rows", 32])}, weights
    ).SerializeToString()
    return made


def test_a_model_that_was_captured_before_needs_no_graph_and_gives_the_same_bits() -> None:
    raw, x = make_product(draw(64, 32)), draw(5, 64)
    first, again = ogive.onnx.load(raw), ogive.onnx.load(raw)
    made = first(x).numpy()
    assert not was_recalled(first)
    again = ogive.onnx.load(raw)
    before = ogive.counters()["schedules_created"]
    assert again(x).numpy().tobytes() == made.tobytes()
    assert was_recalled(again) and ogive.counters()["schedules_created"] == before
    numpy.testing.assert_array_equal(again(x + 1).numpy(), first(x + 1).numpy())


def test_weights_in_their_place_are_read_from_the_file_that_is_loaded() -> None:
    x = draw(5, 64)
    for seed in (1, 2, 3):
        weight = draw(64, 32, seed=seed)
        model = ogive.onnx.load(make_product(weight))
        wanted = numpy.maximum(x @ weight, 0) * 2
        numpy.testing.assert_allclose(model(x).numpy(), wanted, rtol=1e-5, atol=1e-5)
        assert was_recalled(model) == (seed > 1)


def test_another_small_number_is_another_model() -> None:
    weight, x = draw(64, 32), draw(5, 64)
    for factor in (2.0, 3.0):
        model = ogive.onnx.load(make_product(weight, factor))
        wanted = numpy.maximum(x @ weight, 0) * factor
        numpy.testing.assert_allclose(model(x).numpy(), wanted, rtol=1e-5, atol=1e-5)
        assert not was_recalled(model)


def test_other_sizes_of_a_recalled_model_are_captured(tmp_path: Path) -> None:
    path, weight = tmp_path / "model.onnx", draw(64, 32)
    path.write_bytes(make_product(weight))
    ogive.onnx.load(path)(draw(5, 64))
    model = ogive.onnx.load(path)
    for rows in (5, 3, 7, 11):
        x = draw(rows, 64)
        wanted = numpy.maximum(x @ weight, 0) * 2
        numpy.testing.assert_allclose(model(x).numpy(), wanted, rtol=1e-5, atol=1e-5)
    (held,) = model._ready._held.values()
    assert held.id in model._ready.names(), "the weight is in memory once"


def test_a_model_whose_contents_were_listed_is_recalled(monkeypatch: pytest.MonkeyPatch) -> None:
    raw, x = make_product(draw(64, 32)), draw(5, 64)
    made = ogive.onnx.load(raw)(x).numpy()
    model = ogive.onnx.load(raw)
    assert model.contents == ({"Identity": 1, "MatMul": 1, "Relu": 1, "Mul": 1}, 2, 2049, 8196)
    monkeypatch.delattr(ogive.onnx.Model, "_walk_through")
    assert model(x).numpy().tobytes() == made.tobytes()


def test_a_model_whose_graph_was_looked_at_is_captured_as_it_is_now() -> None:
    raw, x = make_product(draw(64, 32)), draw(5, 64)
    made = ogive.onnx.load(raw)(x).numpy()
    model = ogive.onnx.load(raw)
    model.graph.constants["factor"] = numpy.array([5], numpy.float32)
    numpy.testing.assert_allclose(model(x).numpy(), made * 2.5, rtol=1e-6)
    numpy.testing.assert_array_equal(ogive.onnx.load(raw)(x).numpy(), made)


def turned(weight: Any) -> bytes:
    """x @ weight.T."""
    nodes = [
        helper.make_node("Transpose", ["w"], ["turned"]),
        helper.make_node("MatMul", ["x", "turned"], ["y"]),
    ]
    made = make_model(nodes, {"x": (1, [5, 64])}, {"y": (1, [5, 32])}, {"w": weight})
    return bytes(made.SerializeToString())


def normalized(weight: Any) -> bytes:
    """A convolution, a normalization, and what makes its numbers."""
    nodes = [
        helper.make_node("Identity", ["s"], ["scale"]),
        helper.make_node("Conv", ["x", "w"], ["made"]),
        helper.make_node("BatchNormalization", ["made", "scale", "s", "s", "s"], ["y"]),
    ]
    weights = {"w": weight.reshape(32, 64, 1, 1), "s": abs(draw(32)) + 1}
    made = make_model(nodes, {"x": (1, [1, 64, 3, 3])}, {"y": (1, [1, 32, 3, 3])}, weights)
    return bytes(made.SerializeToString())


def quantized(weight: Any) -> bytes:
    """A product of bytes."""
    nodes = [
        helper.make_node("DequantizeLinear", ["b", "one", "zero"], ["x"]),
        helper.make_node("DequantizeLinear", ["w", "one", "none"], ["v"]),
        helper.make_node("MatMul", ["x", "v"], ["y"]),
    ]
    whole = (weight.T * 30).clip(-127, 127).astype(numpy.int8)
    weights: dict[str, Any] = {
        "w": numpy.ascontiguousarray(whole.repeat(3, 1)),
        "one": numpy.float32(0.5).reshape(()),
        "zero": numpy.uint8(7).reshape(()),
        "none": numpy.int8(0).reshape(()),
    }
    made = make_model(nodes, {"b": (2, [5, 64])}, {"y": (1, [5, 96])}, weights)
    return bytes(made.SerializeToString())


def test_a_transposed_weight_is_transposed_for_each_file() -> None:
    x = draw(5, 64)
    for seed in (1, 2):
        weight = draw(32, 64, seed=seed)
        made = ogive.onnx.load(turned(weight))(x).numpy()
        numpy.testing.assert_allclose(made, x @ weight.T, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("make", [normalized, quantized])
def test_weights_that_are_computed_first_are_computed_for_each_file_and_nothing_is_traced(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [make(draw(32, 64, seed=seed)) for seed in (1, 2)]
    kind = ogive.onnx.load(files[0]).inputs[0]
    shape: Any = kind.shape
    x = abs(draw(*shape) * 9).astype(kind.dtype)
    before = ogive.config.current_config()
    ogive.configure(disk_cache=False)
    wanted = [ogive.onnx.load(raw)(x).numpy() for raw in files]
    ogive.configure(disk_cache=before.disk_cache)
    assert (wanted[0] != wanted[1]).any()
    forget()
    ogive.onnx.load(files[0])(x)
    forget()

    def walk(*_: Any) -> Any:
        raise AssertionError("it is walked again")

    monkeypatch.setattr(ogive.onnx.Model, "_walk_through", walk)
    for raw, expected in zip(files, wanted, strict=True):
        numpy.testing.assert_array_equal(ogive.onnx.load(raw)(x).numpy(), expected)


def test_a_zero_point_that_decides_what_is_computed_is_not_taken_from_another_file() -> None:
    """Weights without one are multiplied as they are. This one is as large as a weight."""
    nodes = [helper.make_node("MatMulInteger", ["b", "w", "", "zero"], ["y"])]
    weight = (draw(64, 5000) * 30).clip(-127, 127).astype(numpy.int8)
    x = abs(draw(5, 64) * 9).astype(numpy.uint8)
    for value in (0, 3):
        weights = {"w": weight, "zero": numpy.full(5000, value, numpy.int8)}
        proto = make_model(nodes, {"b": (2, [5, 64])}, {"y": (6, [5, 5000])}, weights)
        made = ogive.onnx.load(proto.SerializeToString())(x).numpy()
        wanted = x.astype(numpy.int32) @ (weight.astype(numpy.int32) - value)
        numpy.testing.assert_array_equal(made, wanted)


def test_what_follows_from_the_elements_of_a_large_weight_is_not_taken_from_another_file() -> None:
    """How many elements are not 0 decides how long the result is."""
    nodes = [
        helper.make_node("NonZero", ["w"], ["places"]),
        helper.make_node("Shape", ["places"], ["shape"]),
        helper.make_node("Expand", ["x", "shape"], ["y"]),
    ]
    for count in (7, 9):
        weight = numpy.zeros(2000, numpy.float32)
        weight[:count] = 1
        proto = make_model(nodes, {"x": (1, [1, 1])}, {"y": (1, [1, None])}, {"w": weight})
        model = ogive.onnx.load(proto.SerializeToString())
        assert model(draw(1, 1)).shape == (1, count)


def test_of_two_weights_of_one_name_the_last_counts_however_large_it_is() -> None:
    nodes = [helper.make_node("Mul", ["x", "w"], ["y"])]
    large, small = draw(20, 100), draw(100)
    for weights in ([large, small], [small, large]):
        proto = make_model(nodes, {"x": (1, [20, 100])}, {"y": (1, [20, 100])})
        proto.graph.initializer.extend([onnx.numpy_helper.from_array(w, "w") for w in weights])
        for _ in range(2):
            model = ogive.onnx.load(proto.SerializeToString())
            made = model(large).numpy()
            numpy.testing.assert_allclose(made, large * weights[-1], rtol=1e-6)
        assert was_recalled(model)


def test_a_fault_in_a_recalled_model_is_explained() -> None:
    nodes = [helper.make_node("Div", ["x", "y"], ["z"])]
    kinds: Any = {"x": (7, [3]), "y": (7, [3])}, {"z": (7, [3])}
    raw = make_model(nodes, *kinds).SerializeToString()
    ones, zeros = numpy.ones(3, numpy.int64), numpy.zeros(3, numpy.int64)
    ogive.onnx.load(raw)(ones, ones)
    model = ogive.onnx.load(raw)
    assert model(ones, ones).tolist() == [1, 1, 1] and was_recalled(model)
    for _ in range(2):
        with raises(DivisionByZeroError, match="floor division of int64 by a zero element"):
            model(ones, zeros)
    assert model(ones * 4, ones * 2).tolist() == [2, 2, 2]


def test_a_damaged_record_is_as_if_there_were_none(own_cache: str) -> None:
    raw, x = make_product(draw(64, 32)), draw(5, 64)
    made = ogive.onnx.load(raw)(x).numpy()
    store = open_stores.store_in(own_cache)
    connection = store._open()
    assert connection is not None
    for damage in (b"", b"\xff" * 200):
        connection.execute(
            "UPDATE entry SET payload = ? WHERE kind = ? AND payload != x''", (damage, Kind.TRACE)
        )
        connection.commit()
        model = ogive.onnx.load(raw)
        numpy.testing.assert_array_equal(model(x).numpy(), made)
        assert not was_recalled(model)


def test_a_file_that_has_changed_since_it_was_loaded_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(make_product(draw(64, 32)))
    ogive.onnx.load(path)(draw(5, 64))
    model = ogive.onnx.load(path)
    path.write_bytes(make_layer().SerializeToString())
    with raises(FileError, match="has changed since it was loaded"):
        model(draw(5, 64))


def test_weights_in_a_file_beside_are_checked_when_a_recalled_model_is_loaded(
    tmp_path: Path,
) -> None:
    path = tmp_path / "model.onnx"
    proto = onnx.load_from_string(make_product(draw(64, 32)))
    onnx.save(proto, path, save_as_external_data=True, location="beside", size_threshold=1024)
    x = draw(5, 64)
    made = ogive.onnx.load(path)(x).numpy()
    again = ogive.onnx.load(path)
    numpy.testing.assert_array_equal(again(x).numpy(), made)
    assert was_recalled(again)
    (tmp_path / "beside").unlink()
    with raises(FileError, match="beside"):
        ogive.onnx.load(path)


def test_a_model_in_a_place_of_its_own_is_captured_where_nothing_is_kept() -> None:
    raw, x = make_product(draw(64, 32)), draw(5, 64)
    made = ogive.onnx.load(raw)(x).numpy()
    before = ogive.config.current_config()
    ogive.configure(disk_cache=False)
    try:
        model = ogive.onnx.load(raw)
        numpy.testing.assert_array_equal(model(x).numpy(), made)
        assert not was_recalled(model)
    finally:
        ogive.configure(disk_cache=before.disk_cache)


def test_no_part_of_the_package_that_models_use_is_left_out_of_their_keys() -> None:
    used, new = set[str](), {"onnx"}
    while new:
        used |= new
        new = {part_of(name) for part in new for name in ALLOWED[part]} - used
    captures_nothing = {"deployment"}  # it writes files out of what was captured
    folders = {name for part in used if is_package(name := part.partition(".")[0])}
    assert "tensor" in used and folders - captures_nothing <= {*LIBRARY, *COMPILER}
