"""Trees, linear models and encoders (ai.onnx.ml) make what ONNX Runtime makes."""

from __future__ import annotations

from typing import Any

import numpy
import onnx
import pytest
from onnx import helper

import ogive
from ogive.onnx import OperatorError
from tests.onnx.test_contrib_operators import compare
from tests.raising import raises

onnxruntime = pytest.importorskip("onnxruntime")

Array = numpy.ndarray[Any, Any]


def load(op: str, x: Array, outputs: int = 1, **attributes: Any) -> bytes:
    made = [f"y{place}" for place in range(outputs)]
    node = helper.make_node(op, ["x"], made, domain="ai.onnx.ml", **attributes)
    kind = 8 if x.dtype == object else helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        [node], "one", [helper.make_tensor_value_info("x", kind, x.shape)],
        [onnx.ValueInfoProto(name=name) for name in made],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    raw: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    return raw


def check(op: str, x: Array, outputs: int = 1, **attributes: Any) -> None:
    raw = load(op, x, outputs, **attributes)
    wanted = onnxruntime.InferenceSession(raw).run(None, {"x": x})
    found = ogive.onnx.load(raw).run({"x": x})
    for one, other in zip(found.values(), wanted, strict=True):
        compare(one, other, 1e-5)


def draw(*shape: int) -> Array:
    return numpy.random.default_rng(sum(shape)).normal(size=shape).astype(numpy.float32)


def grow(trees: int, depth: int, targets: int, kind: str, modes: list[str]) -> dict[str, Any]:
    """Random full trees, as attributes."""
    generator = numpy.random.default_rng(trees + depth)
    names = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")
    nodes: dict[str, list[Any]] = {name: [] for name in names}
    leaves: dict[str, list[Any]] = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(trees):
        for node in range(2 ** (depth + 1) - 1):
            is_leaf = node >= 2**depth - 1
            row = (
                tree, node, int(generator.integers(0, 4)), float(generator.normal()),
                "LEAF" if is_leaf else modes[node % len(modes)],
                0 if is_leaf else 2 * node + 1, 0 if is_leaf else 2 * node + 2,
            )  # fmt: skip
            for name, value in zip(names, row, strict=True):
                nodes[name].append(value)
            for target in range(targets if is_leaf else 0):
                entry = (tree, node, target, float(generator.normal()))
                for name, value in zip(leaves, entry, strict=True):
                    leaves[name].append(value)
    made = {f"nodes_{name}": values for name, values in nodes.items()}
    return made | {f"{kind}_{name}": values for name, values in leaves.items()}


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_a_forest_predicts_numbers(aggregate: str) -> None:
    trees = grow(5, 4, 2, "target", ["BRANCH_LEQ"])
    check("TreeEnsembleRegressor", draw(9, 4), n_targets=2, aggregate_function=aggregate, **trees)


def test_trees_of_mixed_comparisons_and_missing_values() -> None:
    modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
    trees = grow(3, 3, 1, "target", modes)
    flags = [place % 2 for place in range(len(trees["nodes_modes"]))]
    x = draw(20, 4)
    x[::3, 1] = numpy.nan
    check(
        "TreeEnsembleRegressor", x, n_targets=1, base_values=[0.5],
        nodes_missing_value_tracks_true=flags, **trees,
    )  # fmt: skip


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC"])
def test_a_forest_classifies(transform: str) -> None:
    trees = grow(4, 3, 3, "class", ["BRANCH_LEQ"])
    check(
        "TreeEnsembleClassifier", draw(9, 4), 2, classlabels_int64s=[3, 5, 9],
        post_transform=transform, **trees,
    )  # fmt: skip
    check(
        "TreeEnsembleClassifier", draw(9, 4), 2, classlabels_strings=["a", "b", "c"],
        post_transform=transform, **trees,
    )  # fmt: skip


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC"])
def test_one_weight_a_leaf_is_a_choice_of_two_classes(transform: str) -> None:
    trees = grow(4, 3, 1, "class", ["BRANCH_LEQ"])
    check(
        "TreeEnsembleClassifier", draw(9, 4), 2, classlabels_int64s=[0, 1],
        post_transform=transform, **trees,
    )  # fmt: skip


def test_trees_that_lead_back_to_themselves_are_refused() -> None:
    trees = grow(1, 2, 1, "target", ["BRANCH_LEQ"])
    trees["nodes_truenodeids"][1] = 0
    model = ogive.onnx.load(load("TreeEnsembleRegressor", draw(2, 4), n_targets=1, **trees))
    with raises(OperatorError, match="levels, or no end"):
        model(draw(2, 4))


def test_linear_models() -> None:
    x, weights = draw(6, 4), draw(12).tolist()
    check("LinearRegressor", x, coefficients=weights[:8], intercepts=[0.5, -1.0], targets=2)
    for transform in ("NONE", "SOFTMAX", "LOGISTIC"):
        check(
            "LinearClassifier", x, 2, coefficients=weights, intercepts=[0.1, 0.2, 0.3],
            classlabels_ints=[2, 4, 6], post_transform=transform,
        )  # fmt: skip


def test_features_are_scaled_normalized_and_filled_in() -> None:
    x = draw(6, 4)
    check("Scaler", x, offset=[1.0, 2.0, 3.0, 4.0], scale=[0.5, 2.0, 1.0, 4.0])
    for norm in ("MAX", "L1", "L2"):
        check("Normalizer", abs(x), norm=norm)
    check("Binarizer", x, threshold=0.25)
    x[1, 2] = x[3, 0] = numpy.nan
    check("Imputer", x, imputed_value_floats=[9.0], replaced_value_float=float("nan"))


def test_labels_are_encoded() -> None:
    texts = numpy.array([["red", "blue"], ["green", "red"]], object)
    check("LabelEncoder", texts, keys_strings=["red", "blue"], values_int64s=[4, 7])
    numbers = numpy.array([[1, 2], [3, 1]], numpy.int64)
    check("LabelEncoder", numbers, keys_int64s=[1, 2], values_strings=["one", "two"])
    check("LabelEncoder", numbers, keys_int64s=[1, 2], values_floats=[0.5, 0.25])
    check("OneHotEncoder", numbers, cats_int64s=[1, 3], zeros=1)
    check("OneHotEncoder", texts, cats_strings=["blue", "green"], zeros=1)


@pytest.mark.parametrize(
    "labels", [{"classlabels_int64s": [4, 7, 9]}, {"classlabels_strings": ["a", "b", "é"]}]
)
def test_scores_by_label_are_dictionaries(labels: dict[str, Any]) -> None:
    x = draw(5, 3)
    raw = load("ZipMap", x, **labels)
    (wanted,) = onnxruntime.InferenceSession(raw).run(None, {"x": x})
    assert ogive.onnx.load(raw).run({"x": x}) == {"y0": wanted}
