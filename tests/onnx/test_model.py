"""`ogive.onnx.load`: what a model says of itself, how it runs, and what it refuses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from onnx import helper

import ogive
from ogive.errors import ArgumentError, FileError, OgiveError
from ogive.onnx import Info, OperatorError
from tests.onnx.models import make_layer, make_model
from tests.raising import raises


def test_a_number_that_decides_is_part_of_the_kind_of_a_call() -> None:
    """A model for two sampling rates is captured once for each."""
    branches = {
        name: helper.make_graph(
            [helper.make_node("Mul", ["x", factor], ["made"])],
            name, [], [helper.make_tensor_value_info("made", 1, [None])],
        )
        for name, factor in (("then_branch", "two"), ("else_branch", "three"))
    }  # fmt: skip
    nodes = [
        helper.make_node("Equal", ["rate", "usual"], ["is_usual"]),
        helper.make_node("If", ["is_usual"], ["y"], **branches),
    ]
    numbers = {
        "usual": numpy.array(16000), "two": numpy.array([2], numpy.float32),
        "three": numpy.array([3], numpy.float32),
    }  # fmt: skip
    inputs: Any = {"x": (1, ["length"]), "rate": (7, [])}
    model = ogive.onnx.load(
        make_model(nodes, inputs, {"y": (1, [None])}, numbers).SerializeToString()
    )
    x = numpy.arange(5, dtype=numpy.float32)
    for rate, factor in ((16000, 2), (8000, 3), (16000, 2), (8000, 3)):
        assert model(x, numpy.array(rate)).tolist() == (x * factor).tolist()
    assert model._captured.cache_info().traces == 2


def rows(count: int) -> numpy.ndarray[Any, Any]:
    return numpy.random.default_rng(count).normal(size=(count, 8)).astype(numpy.float32)


def expected(model: Any, x: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    weight, bias = (onnx.numpy_helper.to_array(each) for each in model.graph.initializer)
    return numpy.asarray(numpy.maximum(x.astype(float) @ weight + bias, 0))


def test_a_model_says_what_it_takes_and_makes() -> None:
    model = ogive.onnx.load(make_layer().SerializeToString())
    assert model.inputs == [Info("x", "float32", ("rows", 8))]
    assert model.outputs == [Info("y", "float32", ("rows", 200))]
    assert model.metadata == {"author": "me"}
    assert repr(model) == "Model(x: float32[rows, 8] -> y: float32[rows, 200]; 3 nodes)"


@pytest.mark.parametrize("count", [1, 5, 0])
def test_a_model_runs_on_rows_of_any_number(count: int) -> None:
    proto = make_layer()
    model = ogive.onnx.load(proto.SerializeToString())
    made = model.run({"x": rows(count)})
    numpy.testing.assert_allclose(
        made["y"].numpy(), expected(proto, rows(count)), rtol=1e-5, atol=1e-5
    )


def test_a_model_is_called_by_position_and_by_name() -> None:
    model = ogive.onnx.load(make_layer().SerializeToString())
    x = ogive.Tensor(rows(2))
    assert model(x).tolist() == model(x=x).tolist()


def test_the_second_call_is_a_replay() -> None:
    model = ogive.onnx.load(make_layer().SerializeToString())
    first = model(rows(3)).tolist()
    assert model(rows(3)).tolist() == first
    info = model._captured.cache_info()
    assert (info.hits, info.traces) == (1, 1)


def test_weights_stay_in_the_file_they_are_in(tmp_path: Path) -> None:
    path = tmp_path / "layer.onnx"
    proto = make_layer()
    proto.doc_string = ""
    while True:  # the padding of a text before the graph moves the weights to a multiple of 4
        path.write_bytes(proto.SerializeToString())
        weights = ogive.onnx.load(path).state_dict()
        if weights["weight"].device == "DISK":
            break
        proto.producer_name += "."
        assert len(proto.producer_name) < 8
    array = onnx.numpy_helper.to_array(proto.graph.initializer[0])
    assert numpy.array_equal(weights["weight"].numpy(), array)
    made = ogive.onnx.load(path)(rows(2)).numpy()
    numpy.testing.assert_allclose(made, expected(proto, rows(2)), rtol=1e-5, atol=1e-5)


def test_weights_in_a_file_beside_are_read(tmp_path: Path) -> None:
    proto = make_layer()
    onnx.save(
        proto,
        tmp_path / "layer.onnx",
        save_as_external_data=True,
        location="data",
        size_threshold=0,
    )
    made = ogive.onnx.load(tmp_path / "layer.onnx")(rows(2)).numpy()
    wanted = expected(make_layer(), rows(2))
    numpy.testing.assert_allclose(made, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("location", ["../outside", "/etc/passwd", "link", "", "a\0b"])
def test_files_outside_the_folder_are_not_opened(tmp_path: Path, location: str) -> None:
    (tmp_path / "outside").write_bytes(bytes(6400))
    folder = tmp_path / "model"
    folder.mkdir()
    os.symlink(tmp_path / "outside", folder / "link")
    proto = make_layer()
    weight = proto.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    entry = weight.external_data.add()
    entry.key, entry.value = "location", location
    (folder / "layer.onnx").write_bytes(proto.SerializeToString())
    with raises(FileError, match="outside its folder"):
        ogive.onnx.load(folder / "layer.onnx")


def test_an_unknown_operator_is_named_with_node_domain_and_opset() -> None:
    node = helper.make_node("Frobnicate", ["x"], ["y"], name="third", domain="org.example")
    proto = make_model([node], {"x": (1, [2])}, {"y": (1, [2])})
    with raises(OperatorError, match=r"'third' \(org.example.Frobnicate, opset 1\)"):
        ogive.onnx.load(proto.SerializeToString())


def test_an_unknown_operator_inside_a_branch_is_found_when_loading() -> None:
    inner = helper.make_node("Frobnicate", ["x"], ["inner"])
    branch = helper.make_graph([inner], "b", [], [helper.make_tensor_value_info("inner", 1, [2])])
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    proto = make_model([node], {"x": (1, [2]), "c": (9, [])}, {"y": (1, [2])})
    with raises(OperatorError, match="Frobnicate, opset 18"):
        ogive.onnx.load(proto.SerializeToString())


def test_shapes_are_computed_while_the_graph_is_captured() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["rows"]),
        helper.make_node("Concat", ["rows", "rest"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["x", "wanted"], ["y"]),
    ]
    weights = {"zero": numpy.array([0]), "rest": numpy.array([-1])}
    inputs = {"x": (1, ["a", "b", "c"])}
    proto = make_model(nodes, inputs, {"y": (1, ["a", "d"])}, weights)
    model = ogive.onnx.load(proto.SerializeToString())
    x = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)
    assert numpy.array_equal(model(x).numpy(), x.reshape(2, 12))
    assert model._captured.cache_info().traces == 1
    assert not model._needs_values


def test_a_branch_is_chosen_by_a_value() -> None:
    def branch(op: str) -> Any:
        info = helper.make_tensor_value_info(op, 1, [2])
        return helper.make_graph([helper.make_node(op, ["x"], [op])], op, [], [info])

    node = helper.make_node(
        "If", ["c"], ["y"], then_branch=branch("Neg"), else_branch=branch("Abs")
    )
    proto = make_model([node], {"x": (1, [2]), "c": (9, [])}, {"y": (1, [2])})
    model = ogive.onnx.load(proto.SerializeToString())
    x = numpy.array([1.0, -2.0], numpy.float32)
    assert model(x, numpy.array(True)).tolist() == [-1, 2]
    assert model(x, numpy.array(False)).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"z": rows(1)}, "no input 'z'"),
        ({}, r"also takes \['x'\]"),
        ({"x": rows(1).T}, r"float32\[rows, 8\], and one of shape \(8, 1\) is given"),
        ({"x": rows(1).astype(numpy.float64)}, "is float32, and float64"),
        ({"x": "text"}, r"'x' is float32\[rows, 8\], and str is given"),
        ({"x": [[1.0], [1.0, 2.0]]}, "no array of numbers"),
        ({"x": None}, r"'x' is float32\[rows, 8\], and NoneType is given"),
    ],
)
def test_wrong_inputs_are_refused_in_words(given: dict[str, Any], words: str) -> None:
    model = ogive.onnx.load(make_layer().SerializeToString())
    with raises(OgiveError, match=words):
        model.run(given)


def test_lists_of_numbers_are_taken_in_the_dtype_of_the_model() -> None:
    proto = make_layer()
    model, x = ogive.onnx.load(proto.SerializeToString()), rows(2)
    for given in (x.tolist(), tuple(x.tolist())):
        numpy.testing.assert_allclose(model(given).numpy(), expected(proto, x), atol=1e-5)
    whole = [[1, 2, 3, 4, 5, 6, 7, 8]]
    wanted = expected(proto, numpy.array(whole, numpy.float32))
    numpy.testing.assert_allclose(model(whole).numpy(), wanted, rtol=1e-5)
    nodes = [helper.make_node("Neg", ["x"], ["y"])]
    whole_model = make_model(nodes, {"x": (7, [2])}, {"y": (7, [2])}).SerializeToString()
    assert ogive.onnx.load(whole_model)([1, 2]).tolist() == [-1, -2]
    with raises(OgiveError, match="is int64, and float64 is given"):
        ogive.onnx.load(whole_model)([1.5, 2.0])


def test_an_input_with_a_sparse_value_is_none() -> None:
    values = helper.make_tensor("w", 1, [2], [1.0, 2.0])
    places = helper.make_tensor("places", 7, [2], [0, 3])
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    proto = make_model(nodes, {"x": (1, [4]), "w": (1, [4])}, {"y": (1, [4])})
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [4]))
    model = ogive.onnx.load(proto.SerializeToString())
    assert [info.name for info in model.inputs] == ["x"]
    assert model(numpy.zeros(4, numpy.float32)).tolist() == [1, 0, 0, 2]


def test_too_many_inputs_are_refused() -> None:
    model = ogive.onnx.load(make_layer().SerializeToString())
    with raises(ArgumentError, match="takes 1 inputs, not 2"):
        model(rows(1), rows(1))


def test_a_function_of_the_model_is_called_with_its_attributes() -> None:
    leaky = helper.make_node("LeakyRelu", ["a"], ["b"])
    reference = onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=1)
    leaky.attribute.append(reference)
    opsets = [helper.make_opsetid("", 18)]
    function = helper.make_function("own", "Bend", ["a"], ["b"], [leaky], opsets, ["slope"])
    node = helper.make_node("Bend", ["x"], ["y"], domain="own", slope=0.5)
    proto = make_model([node], {"x": (1, [2])}, {"y": (1, [2])})
    proto.functions.append(function)
    proto.opset_import.append(helper.make_opsetid("own", 1))
    model = ogive.onnx.load(proto.SerializeToString())
    assert model(numpy.array([-2.0, 4.0], numpy.float32)).tolist() == [-1, 4]


def test_a_function_that_calls_itself_is_refused() -> None:
    inner = helper.make_node("Again", ["a"], ["b"], domain="own")
    opsets = [helper.make_opsetid("own", 1)]
    function = helper.make_function("own", "Again", ["a"], ["b"], [inner], opsets)
    node = helper.make_node("Again", ["x"], ["y"], domain="own")
    proto = make_model([node], {"x": (1, [2])}, {"y": (1, [2])})
    proto.functions.append(function)
    with raises(FileError, match="calls itself"):
        ogive.onnx.load(proto.SerializeToString())


def test_a_circle_of_nodes_is_refused() -> None:
    nodes = [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Neg", ["a"], ["b"])]
    proto = make_model(nodes, {"x": (1, [2])}, {"b": (1, [2])})
    with raises(FileError, match="which nothing before it makes"):
        ogive.onnx.load(proto.SerializeToString())


def make_convolutions() -> Any:
    """Two layers of 3×3 windows over 64 channels."""
    generator = numpy.random.default_rng(5)
    weights = {
        name: (generator.normal(size=(64, 64, 3, 3)) / 24).astype(numpy.float32)
        for name in ("first", "second")
    }
    nodes = [
        helper.make_node("Conv", ["x", "first"], ["made"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["made"], ["positive"]),
        helper.make_node("Conv", ["positive", "second"], ["y"], pads=[1, 1, 1, 1]),
    ]
    shape = [1, 64, 16, 16]
    return make_model(nodes, {"x": (1, shape)}, {"y": (1, shape)}, weights)


def test_a_model_may_be_rounded_otherwise_unless_it_is_loaded_as_exact() -> None:
    raw = make_convolutions().SerializeToString()
    x = numpy.random.default_rng(6).normal(size=(1, 64, 16, 16)).astype(numpy.float32)
    usual, exact = ogive.onnx.load(raw), ogive.onnx.load(raw, exactness="exact")
    kernels = [len(model.profile({"x": x})) for model in (usual, exact)]
    assert kernels[0] > kernels[1], "the usual one is computed in tiles"
    numpy.testing.assert_allclose(usual(x).numpy(), exact(x).numpy(), rtol=0, atol=1e-5)


def test_a_model_follows_the_settings_of_the_process() -> None:
    model = ogive.onnx.load(make_convolutions().SerializeToString())
    before = ogive.config.current_config()
    try:
        ogive.configure(threads=1)
        assert model._settings.current() == before.with_changes(
            {"threads": 1, "exactness": "rounding"}
        )
    finally:
        ogive.configure(threads=before.threads)


def test_an_exactness_that_there_is_not_is_refused() -> None:
    with raises(OgiveError, match="exactness is one of exact, rounding, got 'fast'"):
        ogive.onnx.load(make_layer().SerializeToString(), exactness="fast")


def test_results_do_not_lie_in_the_arrays_that_were_given() -> None:
    nodes = [helper.make_node("Identity", ["x"], ["y"])]
    model = ogive.onnx.load(
        make_model(nodes, {"x": (1, [4])}, {"y": (1, [4])}).SerializeToString()
    )
    for _ in range(3):
        x = numpy.arange(4, dtype=numpy.float32)
        made = model(x)
        x[:] = -1
        assert made.tolist() == [0, 1, 2, 3]


def test_arrays_in_any_order_and_tensors_are_taken_alike() -> None:
    proto = make_layer()
    model = ogive.onnx.load(proto.SerializeToString())
    x = rows(6)
    for given in (x, numpy.asfortranarray(x), x[::-1], ogive.Tensor(x)):
        array = numpy.asarray(given.numpy() if isinstance(given, ogive.Tensor) else given)
        numpy.testing.assert_allclose(model(given).numpy(), expected(proto, array), atol=1e-5)


def test_a_length_of_minus_one_may_be_any() -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    made = make_model(nodes, {"x": (1, [-1, 3])}, {"y": (1, [-1, 3])})
    model = ogive.onnx.load(made.SerializeToString())
    assert model.inputs[0].shape == (None, 3)
    for rows in (1, 4):
        assert model(numpy.ones((rows, 3), numpy.float32)).shape == (rows, 3)
