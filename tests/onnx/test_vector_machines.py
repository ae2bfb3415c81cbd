"""Support vector machines (ai.onnx.ml) make what ONNX Runtime makes."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import ogive
from ogive.onnx import OperatorError
from tests.onnx.test_learners import check, draw, load
from tests.raising import raises

pytest.importorskip("onnxruntime")

KERNELS = {"LINEAR": [0.0, 0.0, 0.0], "RBF": [0.4, 0.0, 0.0], "POLY": [0.5, 1.0, 3.0],
           "SIGMOID": [0.3, 0.1, 0.0]}  # fmt: skip


def machine(kernel: str, sizes: list[int], features: int = 4) -> dict[str, Any]:
    """The attributes of a random classifier with so many support vectors of each class."""
    count, classes = sum(sizes), len(sizes)
    return {
        "kernel_type": kernel,
        "kernel_params": KERNELS[kernel],
        "vectors_per_class": sizes,
        "support_vectors": draw(count, features).reshape(-1).tolist(),
        "coefficients": draw(classes - 1, count).reshape(-1).tolist(),
        "rho": draw(classes * (classes - 1) // 2).tolist(),
    }


def chances(classes: int) -> dict[str, list[float]]:
    pairs = classes * (classes - 1) // 2
    return {"prob_a": (-1 - abs(draw(pairs))).tolist(), "prob_b": draw(pairs, 1).ravel().tolist()}


@pytest.mark.parametrize("kernel", KERNELS)
def test_numbers_are_predicted(kernel: str) -> None:
    check(
        "SVMRegressor", draw(20, 4), kernel_type=kernel, kernel_params=KERNELS[kernel],
        n_supports=7, support_vectors=draw(28).tolist(), coefficients=draw(7).tolist(), rho=[0.3],
    )  # fmt: skip


def test_rows_are_inside_of_one_class_or_outside() -> None:
    check(
        "SVMRegressor", draw(20, 4), kernel_type="RBF", kernel_params=KERNELS["RBF"], one_class=1,
        n_supports=7, support_vectors=draw(28).tolist(), coefficients=draw(7).tolist(), rho=[0.1],
    )  # fmt: skip


def test_without_support_vectors_they_are_linear() -> None:
    kernel: dict[str, Any] = {"kernel_type": "LINEAR", "kernel_params": KERNELS["LINEAR"]}
    kernel["rho"] = [0.3]
    check("SVMRegressor", draw(9, 4), coefficients=draw(4).tolist(), **kernel)
    check(
        "SVMClassifier", draw(9, 4), 2, coefficients=draw(12).tolist(), classlabels_ints=[0, 1, 2],
        **kernel,
    )  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("sizes", [[3, 4], [2, 3, 4], [2, 3, 1, 2]], ids=len)
def test_rows_are_classified(kernel: str, sizes: list[int]) -> None:
    labels = list(range(len(sizes)))
    check("SVMClassifier", draw(30, 4), 2, classlabels_ints=labels, **machine(kernel, sizes))


@pytest.mark.parametrize("sizes", [[3, 4], [2, 3, 4], [2, 3, 1, 2]], ids=len)
def test_chances_of_pairs_become_chances_of_classes(sizes: list[int]) -> None:
    names = ["red", "green", "blue", "black"][: len(sizes)]
    check(
        "SVMClassifier", draw(30, 4), 2, classlabels_strings=names, **machine("RBF", sizes),
        **chances(len(sizes)),
    )  # fmt: skip


def test_a_machine_with_too_few_numbers_is_refused() -> None:
    given = machine("RBF", [3, 4])
    for name in ("coefficients", "support_vectors", "rho"):
        short = {**given, name: [*given[name], 1.0, 2.0, 3.0]}
        model = ogive.onnx.load(load("SVMClassifier", draw(2, 4), 2, **short))
        with raises(OperatorError, match=f"{name} has"):
            model(numpy.ones((2, 4), numpy.float32))
    model = ogive.onnx.load(
        load("SVMRegressor", draw(2, 4), kernel_type="COSINE", coefficients=[1.0], rho=[0.0],
             n_supports=1, support_vectors=[1.0] * 4)
    )  # fmt: skip
    with raises(OperatorError, match="no kernel 'COSINE'"):
        model(numpy.ones((2, 4), numpy.float32))
