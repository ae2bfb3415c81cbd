"""Damaged and hostile models: typed errors only."""

from __future__ import annotations

import itertools
import resource
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
from onnx import helper

import ogive
from ogive import Tensor
from ogive.errors import AllocateError, FileError, OgiveError
from ogive.onnx import Info, OperatorError, operators
from ogive.onnx.walk import Walk
from tests.onnx.models import make_layer, make_model
from tests.onnx.mutations import mutations, seeds, write_into
from tests.raising import raises


def field(number: int, content: bytes) -> bytes:
    """A field of bytes on the wire."""
    return bytes([number << 3 | 2]) + varint(len(content)) + content


def varint(value: int) -> bytes:
    made = b""
    while value > 127:
        made += bytes([value & 127 | 128])
        value >>= 7
    return made + bytes([value])


@pytest.mark.parametrize("cut", [1, 7, 100, 3000])
def test_a_model_that_is_cut_off_is_refused(cut: int) -> None:
    whole = make_layer().SerializeToString()
    with pytest.raises(FileError):
        ogive.onnx.load(whole[:-cut])


def test_a_length_past_the_end_is_refused() -> None:
    with raises(FileError, match="ends at byte"):
        ogive.onnx.load(b"\x3a" + varint(1 << 62))


def test_an_endless_number_is_refused() -> None:
    with raises(FileError, match="more than ten bytes"):
        ogive.onnx.load(b"\x08" + b"\xff" * 19)


def test_an_empty_model_is_refused() -> None:
    with raises(FileError, match="no graph"):
        ogive.onnx.load(b"")


def test_graphs_that_are_nested_too_deep_are_refused() -> None:
    graph = field(2, b"innermost")
    for _ in range(40):  # a node with an attribute that is a graph
        graph = field(1, field(4, b"If") + field(5, field(6, graph)))
    with raises(FileError, match="nested more than"):
        ogive.onnx.load(field(7, graph) + field(8, b"\x10\x12"))


def test_a_tensor_whose_shape_is_a_lie_is_refused() -> None:
    tensor = b"\x08" + varint(1 << 50) + b"\x10\x01" + field(8, b"w") + field(9, bytes(8))
    with raises(FileError, match="takes"):
        ogive.onnx.load(field(7, field(5, tensor)) + field(8, b"\x10\x12"))


def test_a_model_that_describes_more_than_its_size_is_refused() -> None:
    sparse = field(1, b"\x08\x01\x10\x01" + field(9, bytes(4)))
    sparse += field(2, b"\x08\x01\x10\x07" + field(9, bytes(8))) + b"\x18" + varint(1 << 40)
    with raises(FileError, match="out of proportion"):
        ogive.onnx.load(field(7, field(15, sparse)) + field(8, b"\x10\x12"))


def nested_functions(depth: int, calls: int) -> bytes:
    """A model whose function calls another as often as that calls a third, and so on."""
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    functions = []
    for number in range(depth):
        names = [f"v{place}" for place in range(calls)] + ["y"]
        operator, domain = (f"f{number - 1}", "own") if number else ("Relu", "")
        nodes = [
            helper.make_node(operator, [name], [made], domain=domain)
            for name, made in itertools.pairwise(["x", *names[1:]])
        ]
        functions.append(helper.make_function("own", f"f{number}", ["x"], ["y"], nodes, opsets))
    graph = make_model(
        [helper.make_node(f"f{depth - 1}", ["x"], ["y"], domain="own")],
        {"x": (1, [2])}, {"y": (1, [2])},
    )  # fmt: skip
    graph.functions.extend(functions)
    graph.opset_import.append(opsets[1])
    return bytes(graph.SerializeToString())


def test_functions_that_call_each_other_twice_are_refused_before_they_are_carried_out() -> None:
    with raises(FileError, match=r"stands for \d+ nodes"):
        ogive.onnx.load(nested_functions(40, 2))


def test_functions_that_call_each_other_too_deep_are_refused() -> None:
    with raises(FileError, match="functions call each other"):
        ogive.onnx.load(nested_functions(3000, 1))


def test_functions_that_call_each_other_a_few_times_are_carried_out() -> None:
    model = ogive.onnx.load(nested_functions(5, 3))
    assert model(numpy.array([-1, 2], numpy.float32)).tolist() == [0, 2]


def peak() -> int:
    """The most memory that this process had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Opened:
    """The files that are opened while it is on; Python tells, and cannot be told to stop."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.is_on = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.is_on and event == "open" and isinstance(arguments[0], str):
            self.paths.add(arguments[0])


def try_mutations(folder: Path, count: int, seed: int) -> int:
    """Load damaged models, and walk those that load; how many are refused."""
    assert operators.find("", "no such operator", 1) is None  # now all families are loaded
    opened, refused, before = Opened(), 0, peak()
    for name, raw in seeds().items():
        for mutated in mutations(raw, count, seed):
            path = write_into(folder, mutated)
            opened.is_on = True
            try:
                model = ogive.onnx.load(path)
                if name != "control":  # whose trip count may be any number
                    Walk().run(model.graph, [_make_input(info) for info in model.inputs])
            except OgiveError:
                refused += 1
            finally:
                opened.is_on = False
    strange = [path for path in opened.paths if not _is_expected(path, folder)]
    assert not strange, strange
    assert peak() - before < 256 << 20
    return refused


def _is_expected(path: str, folder: Path) -> bool:
    return path.startswith(str(folder)) or path.endswith((".py", ".pyc", ".so"))


def _make_input(info: Info) -> Any:
    lengths = [size if isinstance(size, int) and 0 <= size < 50 else 2 for size in info.shape or ()]
    kind = info.dtype if info.dtype in ("float64", "int64", "int32", "uint8", "bool") else "float32"
    return Tensor(numpy.ones(lengths, kind))


def test_mutated_models_give_typed_errors_only(tmp_path: Path) -> None:
    assert try_mutations(tmp_path, 40, 5) > 100


@pytest.mark.soak
def test_ten_thousand_mutated_models_give_typed_errors_only(tmp_path: Path) -> None:
    assert try_mutations(tmp_path, 1430, 6) > 5000


def test_a_node_that_is_not_what_its_operator_says_is_named() -> None:
    node = helper.make_node("Cast", ["x"], ["y"])
    model = make_model([node], {"x": (1, [2])}, {"y": (1, [2])})
    loaded = ogive.onnx.load(model.SerializeToString())
    with raises(OperatorError, match=r"ai.onnx.Cast, opset 18\) cannot be computed"):
        loaded(numpy.ones(2, numpy.float32))


def test_more_elements_than_make_sense_are_refused() -> None:
    nodes = [helper.make_node("Range", ["zero", "end", "one"], ["y"])]
    numbers = {"zero": numpy.array(0), "end": numpy.array(1 << 50), "one": numpy.array(1)}
    model = ogive.onnx.load(make_model(nodes, {}, {"y": (7, [None])}, numbers).SerializeToString())
    with raises(OperatorError, match="made at once"):
        model.run({})


def test_an_output_that_no_memory_holds_is_refused_by_name() -> None:
    nodes = [helper.make_node("Expand", ["x", "shape"], ["y"])]
    numbers = {"x": numpy.ones(1, numpy.float32), "shape": numpy.array([1 << 28, 1 << 28])}
    model = ogive.onnx.load(
        make_model(nodes, {}, {"y": (1, [None, None])}, numbers).SerializeToString()
    )
    with pytest.raises(AllocateError):
        model.run({})
