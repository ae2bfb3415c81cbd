"""The cases of the `onnx` package: which there are, and whether one passes."""

from __future__ import annotations

import functools
import warnings
from pathlib import Path
from typing import Any

import numpy
import onnx
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.loader import DATA_DIR, load_model_tests
from onnx.backend.test.runner import Runner

from ogive.onnx import load
from ogive.onnx.backend import BackendRep, OgiveBackend

KINDS = ("node", "simple", "light", "pytorch-converted", "pytorch-operator")


@functools.cache
def cases_of(kind: str) -> dict[str, Any]:
    """The cases of a kind by name."""
    if kind == "light":
        return _light_cases()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package makes its expected values with NumPy
        return {case.name: case for case in load_model_tests(kind=kind)}


def _light_cases() -> dict[str, Any]:
    """Known networks whose weights are made by nodes, on inputs that the package makes, too.

    How close results must be is what the package asks of the same networks with their weights.
    """
    made = {}
    for real in load_model_tests(kind="real"):
        path = Path(DATA_DIR) / "light" / f"light_{real.name.removeprefix('test_')}.onnx"
        model = onnx.load(path)
        weights = {tensor.name for tensor in model.graph.initializer}
        inputs = [
            Runner.generate_dummy_data(each, seed=0, name=real.model_name, random=False)
            for each in model.graph.input
            if each.name not in weights
        ]
        expected = [onnx.load_tensor(path.with_name(f"{path.stem}_output_0.pb"))]
        case = TestCase(
            f"test_{path.stem}", real.model_name, None, None, model, [(inputs, expected)],
            "light", real.rtol, real.atol,
        )  # fmt: skip
        made[case.name] = case
    return made


def node_cases() -> dict[str, Any]:
    """The node cases by name."""
    return cases_of("node")


def load_case(case: Any) -> tuple[BackendRep, list[tuple[Any, Any]]]:
    """The prepared model of a case, and its inputs with what is expected of them."""
    if case.model is not None:
        return OgiveBackend.prepare(case.model), case.data_sets
    folder = Path(case.model_dir)
    sets = [
        (_read_all(each, "input"), _read_all(each, "output"))
        for each in sorted(folder.glob("test_data_set_*"))
    ]
    return BackendRep(load(folder / "model.onnx")), sets


def _read_all(folder: Path, name: str) -> list[Any]:
    count = len(list(folder.glob(f"{name}_*.pb")))
    return [onnx.load_tensor(folder / f"{name}_{place}.pb") for place in range(count)]


def check(case: Any) -> None:
    """Run a case on all its inputs. Raises `AssertionError` where a result is not as expected."""
    prepared, sets = load_case(case)
    for inputs, expected in sets:
        given = [_plain(each) for each in inputs]
        made = prepared.run(given)
        wanted = [_plain(each) for each in expected]
        assert len(made) == len(wanted), f"{len(made)} outputs; expected {len(wanted)}"
        for one, other in zip(made, wanted, strict=True):
            compare(one, other, case.rtol, case.atol)


def compare(made: Any, wanted: Any, rtol: float, atol: float) -> None:
    """Whether a value is as expected: kind, dtype, shape and elements."""
    if wanted is None or isinstance(wanted, list):
        assert (made is None) == (wanted is None), f"{made} where {wanted} is expected"
        for one, other in zip(made or [], wanted or [], strict=True):
            compare(one, other, rtol, atol)
        return
    wanted = numpy.asarray(wanted)
    if wanted.dtype.kind in "OUS":
        assert numpy.array_equal(made, wanted), f"{made} where {wanted} is expected"
        return
    assert made.dtype == wanted.dtype, f"{made.dtype} where {wanted.dtype} is expected"
    assert made.shape == wanted.shape, f"shape {made.shape} where {wanted.shape} is expected"
    if made.dtype.kind not in "biufc":  # floats of 16 and 8 bits
        made, wanted = made.astype(numpy.float32), wanted.astype(numpy.float32)
    numpy.testing.assert_allclose(made, wanted, rtol=rtol, atol=atol)


def _plain(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    if isinstance(value, onnx.SequenceProto):
        return onnx.numpy_helper.to_list(value)
    if isinstance(value, onnx.OptionalProto):
        return onnx.numpy_helper.to_optional(value)
    return value
