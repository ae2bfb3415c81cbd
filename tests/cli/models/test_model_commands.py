"""`ogive run`, `bench`, `compare` and `export`: what they print, write and refuse."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from onnx import helper

import ogive
from ogive import cli
from ogive.cli.models.given_inputs import make_inputs
from ogive.cli.models.progress import showing_progress
from tests.deployment.loaded import aligned, call
from tests.onnx.models import make_layer, make_model

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def layer(tmp_path: Path) -> str:
    path = tmp_path / "layer.onnx"
    onnx.save(make_layer(), path)
    return str(path)


def test_run_says_what_a_model_is_and_what_it_makes(layer: str, capsys: Capture) -> None:
    assert cli.main(["run", layer]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "x: float32[rows, 8]" in printed and "y: float32[rows, 200]" in printed
    assert "3: 1 MatMul, 1 Add, 1 Relu" in printed
    assert "1,800 numbers in 2, 7.03 KiB" in printed
    assert "float32[1, 200] from" in printed


def test_run_takes_inputs_from_files_and_writes_results(layer: str, tmp_path: Path) -> None:
    x = numpy.random.default_rng(1).normal(size=(5, 8)).astype(numpy.float32)
    numpy.save(tmp_path / "x.npy", x)
    one, all_of_them = tmp_path / "y.npy", tmp_path / "y.npz"
    given = ["--input", f"x={tmp_path / 'x.npy'}"]
    for output in (one, all_of_them):
        assert cli.main(["run", layer, *given, "--output", str(output)]) == 0
    wanted = ogive.onnx.load(layer)(x).numpy()
    numpy.testing.assert_array_equal(numpy.load(one), wanted)
    numpy.testing.assert_array_equal(numpy.load(all_of_them)["y"], wanted)


def test_run_profiles_by_kernel_and_by_operator(layer: str, capsys: Capture) -> None:
    assert cli.main(["run", layer, "--profile", "--batch", "4"]) == 0
    printed = capsys.readouterr().out
    assert "Kernels, each by itself" in printed and "product_" in printed
    assert "× MatMul" in printed and "× Relu" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "z=z.npy"], "there is no 'z'"),
        (["--input", "x"], "write --input NAME=VALUE"),
        (["--size", "row=3"], "(did you mean 'rows'?)"),
        (["--size", "rows=many"], "must be a number"),
        (["--input", "x=none.npy"], "x=none.npy: No such file"),
        (["--input", "x=x.npz"], "an array in a .npy file"),
        (["--batch", "-1"], "the length of an axis is 0 or more"),
        (["--output", "y.txt"], ".npy or .npz"),
    ],
)
def test_run_refuses_in_one_line(
    layer: str, arguments: list[str], message: str, capsys: Capture
) -> None:
    assert cli.main(["run", layer, *arguments]) == 1
    assert message in capsys.readouterr().err


def test_export_writes_an_object_that_computes_the_model(layer: str, capsys: Capture) -> None:
    assert cli.main(["export", layer, "--batch", "3", "--cpu", "x86-64-v3"]) == 0
    printed = capsys.readouterr().out
    assert "int32_t layer(" in printed and "const float *x,  /* float32 [3, 8] */" in printed
    assert "float *y,  /* float32 [3, 200] */" in printed
    assert Path(layer).with_suffix(".o").exists() and Path(layer).with_suffix(".h").exists()
    x = numpy.random.default_rng(2).normal(size=(3, 8)).astype(numpy.float32)
    exported = ogive.onnx.load(layer).export({"x": x}, Path(layer).with_suffix(".o"))
    result = aligned((3, 200), numpy.float32)
    assert call(exported, [x], [result]) == 0
    numpy.testing.assert_array_equal(result, ogive.onnx.load(layer)(x).numpy())


def test_a_batch_for_a_model_whose_lengths_are_fixed_is_refused(
    tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "fixed.onnx"
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    onnx.save(make_model(nodes, {"x": (1, [2, 3])}, {"y": (1, [2, 3])}), path)
    assert cli.main(["run", str(path), "--batch", "3"]) == 1
    assert "no input of this model has a first axis that may change: x: float32[2, 3]" in (
        capsys.readouterr().err
    )
    assert cli.main(["run", str(path)]) == 0


def test_where_results_cannot_go_is_said_before_anything_runs(
    layer: str, capsys: Capture
) -> None:
    assert cli.main(["run", layer, "--output", "result.txt"]) == 1
    printed = capsys.readouterr()
    assert "results are written as .npy or .npz" in printed.err and not printed.out


def test_sizes_are_given_by_name_and_first_axes_by_the_batch() -> None:
    nodes = [helper.make_node("Add", ["x", "y"], ["z"])]
    inputs: dict[str, tuple[int, list[int | str | None]]] = {
        "x": (1, ["batch", "length"]), "y": (1, [1, "length"]),
    }  # fmt: skip
    model = ogive.onnx.load(make_model(nodes, inputs, {"z": (1, [None, None])}).SerializeToString())
    made = make_inputs(model, [], 3, ["length=7"])
    assert {name: array.shape for name, array in made.items()} == {"x": (3, 7), "y": (1, 7)}


def test_bench_measures_beside_onnx_runtime(layer: str, capsys: Capture) -> None:
    pytest.importorskip("onnxruntime")
    assert cli.main(["bench", layer, "--seconds", "0.05"]) == 0
    printed = capsys.readouterr().out
    assert "p50" in printed and "onnxruntime" in printed and "times as fast as" in printed


def test_compare_finds_no_difference_where_there_is_none(layer: str, capsys: Capture) -> None:
    pytest.importorskip("onnxruntime")
    assert cli.main(["compare", layer]) == 0
    assert "3 compared, 0 differ" in capsys.readouterr().out


def test_compare_names_the_first_difference(
    layer: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    from ogive.cli.models.peer import Peer

    run = Peer.run

    def run_otherwise(self: Peer, inputs: Any) -> dict[str, Any]:
        made = run(self, inputs)
        return {**made, "sum": made["sum"] + 1}

    monkeypatch.setattr(Peer, "run", run_otherwise)
    assert cli.main(["compare", layer]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "first sum of the node that makes ['sum'] (ai.onnx.Add, opset 18)" in printed


def test_progress_is_silent_where_nothing_takes_long() -> None:
    stream = io.StringIO()
    with showing_progress(stream, 10.0):
        pass
    assert stream.getvalue() == ""


def test_progress_is_one_line_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    with showing_progress(stream, 0.0):
        while not stream.getvalue():
            time.sleep(0.001)
    written = stream.getvalue()
    assert written.startswith("compiling: kernel 1, ") and written.count("\n") == 1
