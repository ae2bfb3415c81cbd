"""`ogive compare`: compare every value of a model with that of ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy

import ogive
from ogive.cli.doctor import Report
from ogive.cli.models import peer
from ogive.cli.models.given_inputs import make_inputs
from ogive.cli.models.progress import showing_progress
from ogive.cli.screen import find_screen
from ogive.errors import ArgumentError
from ogive.named import NamedTuple
from ogive.onnx.graph import Node


class Difference(NamedTuple):
    """The distance of a value from the other's, beside the largest number there."""

    node: Node
    value: str
    size: float
    why: str


def compare(
    model: str,
    given: list[str],
    batch: int,
    sizes: list[str],
    threads: int,
    tolerance: float,
) -> int:
    """Print the first value that differs, and the largest differences. Returns 1 if one differs."""
    if not peer.is_installed():
        raise ArgumentError("ONNX Runtime is not installed; pip install onnxruntime")
    ogive.configure(threads=threads)
    loaded = ogive.onnx.load(model)
    inputs = make_inputs(loaded, given, batch, sizes)
    names = [name for node in loaded.graph.nodes for name in node.outputs if name]
    own = {info.name for info in loaded.outputs}
    wanted = peer.Peer(model, threads, [name for name in names if name not in own]).run(inputs)
    differences = []
    with showing_progress():
        for node, values in loaded.step_through(inputs):
            for name, value in values.items():
                if name in wanted:
                    differences.append(measure(node, name, value, wanted[name]))
    return _report(model, differences, tolerance)


def measure(node: Node, name: str, given: Any, wanted: Any) -> Difference:
    """The distance of a value: 0 for the same, infinity where it is another kind of thing."""
    given, wanted = numpy.asarray(given), numpy.asarray(wanted)
    if given.shape != wanted.shape or given.dtype.kind != wanted.dtype.kind:
        kinds = f"{given.dtype}{list(given.shape)} and {wanted.dtype}{list(wanted.shape)}"
        return Difference(node, name, float("inf"), f"is {kinds}")
    if wanted.dtype.kind not in "fiub":
        same = bool(numpy.array_equal(given, wanted))
        return Difference(node, name, 0.0 if same else float("inf"), "" if same else "are others")
    one, other = given.astype(numpy.float64), wanted.astype(numpy.float64)
    if not numpy.array_equal(numpy.isfinite(one), numpy.isfinite(other)):
        return Difference(node, name, float("inf"), "has infinities or NaN elsewhere")
    finite = numpy.isfinite(other)
    if not finite.any():
        return Difference(node, name, 0.0, "")
    away = numpy.abs(one[finite] - other[finite]).max()
    largest = max(float(numpy.abs(other[finite]).max()), 1e-30)
    return Difference(node, name, float(away) / largest, f"up to {away:.3g} of {largest:.3g}")


def _report(model: str, differences: list[Difference], tolerance: float) -> int:
    report = Report(find_screen())
    report.section(Path(model).name)
    wrong = [each for each in differences if each.size > tolerance]
    count = f"{len(differences)} compared, {len(wrong)} differ by more than {tolerance:g}"
    report.fact("values", count)
    for each in sorted(differences, key=lambda one: -one.size)[:5]:
        report.fact(f"{each.size:.2g}", f"{each.value} of {each.node.describe()} {each.why}")
    if not wrong:
        return 0
    first = wrong[0]
    report.fact("first", f"{first.value} of {first.node.describe()} {first.why}")
    return 1
