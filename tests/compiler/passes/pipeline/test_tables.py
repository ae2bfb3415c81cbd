"""The tables hold every pass, say the truth about it, and are what runs."""

from __future__ import annotations

import ast
import inspect
import itertools
from pathlib import Path

import pytest

import ogive.compiler.passes
from ogive.compiler.devices.llvm.compile_region import EMIT_PASSES
from ogive.compiler.passes.pipeline.capture_passes import CAPTURE_PASSES
from ogive.compiler.passes.pipeline.graph_passes import (
    DIVIDE_PASSES,
    GRAPH_PASSES,
    JOIN_PASSES,
    UNORDERED,
)
from ogive.compiler.passes.pipeline.pass_runner import Pass
from ogive.compiler.passes.pipeline.region_passes import REGION_PASSES
from ogive.config import Config

SOURCES = Path(ogive.compiler.passes.__path__[0]).parent
LEVELS: dict[str, tuple[tuple[Pass, ...], set[str]]] = {
    "capture": (CAPTURE_PASSES, {"tensor", "whole", "order", "calls"}),
    "divide": (DIVIDE_PASSES, {"parametric"}),
    "graph": (GRAPH_PASSES, {"parametric", "target", "cut_kernels", "findings"}),
    "join": (JOIN_PASSES, {"schedules", "parts", "parametric"}),
    "region": (REGION_PASSES, {"region", "target", "placement"}),
    "emit": (EMIT_PASSES, {"instructions", "lowered", "name", "target"}),
}
"""The parts of the table, and what is given to each before it runs."""

PASSES = {each.name: each for passes, _ in LEVELS.values() for each in passes}
NO_PASSES = {
    "block_sums": "a part of block_axes",
    "choose_lanes": "a part of choose_placement",
    "cut_counters": "a part of block_axes and block_sums",
    "element_reads": "what merge_regions asks of a region",
    "express_sizes": "a part of general graphs, which the caches ask for",
    "find_scores": "what choose_kept asks of a graph",
    "keep_by_kind": "what choose_kept asks of a value",
    "kernel_signature": "what callers ask of a lowered kernel",
    "loop_order": "what choose_kept asks of a value",
    "products_below": "what pack_operands asks of a graph",
    "storage": "what assignments ask of a value",
}
"""Modules with a function of their name that are no passes, and why."""


def modules() -> dict[str, Path]:
    """The modules of the folders of passes, by name."""
    folders = [path for path in (SOURCES / "passes").iterdir() if path.name != "pipeline"]
    folders.append(SOURCES / "search/graph")
    return {path.stem: path for folder in folders for path in folder.rglob("[!_]*.py")}


def functions_of(path: Path) -> set[str]:
    body = ast.parse(path.read_text()).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef)}


def test_every_pass_of_the_folders_is_in_the_table() -> None:
    found = {name for name, path in modules().items() if name in functions_of(path)}
    assert found - NO_PASSES.keys() == PASSES.keys() - {"emit"}
    assert found > NO_PASSES.keys()


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_is_the_function_and_the_module_of_its_name(name: str) -> None:
    function = PASSES[name].function
    assert function.__name__ == name
    assert function.__module__.rpartition(".")[2] == name


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_takes_as_many_arguments_as_it_reads(name: str) -> None:
    each = PASSES[name]
    signature = inspect.signature(each.function)
    signature.bind(None, *each.reads)
    assert len(signature.parameters) == 1 + len(each.reads), "the rest would never be given"


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_shows_before_and_after_in_a_line(name: str) -> None:
    shows = PASSES[name].shows
    assert shows.count(" → ") == 1 and "\n" not in shows and len(shows) < 100


@pytest.mark.parametrize("level", LEVELS)
def test_all_that_a_pass_takes_and_reads_was_given_or_made_before(level: str) -> None:
    passes, there = LEVELS[level]
    there = set(there)
    settings = {"config", *[f"config.{name}" for name in Config.__dataclass_fields__]}
    for each in passes:
        assert {each.takes.name, *each.reads} <= there | settings, each
        there.add(each.gives.name)


def test_passes_never_go_back_to_an_earlier_folder_but_for_the_second_try() -> None:
    passes = [*GRAPH_PASSES, *REGION_PASSES, *EMIT_PASSES]
    folders = [each.function.__module__.split(".")[3] for each in passes if each.when != UNORDERED]
    in_order = ["graph", "versions", "fuse", "regions", "loops", "place", "lower", "llvm"]
    assert [folder for folder, _ in itertools.groupby(folders)] == in_order


def test_nothing_calls_a_pass_but_the_runner() -> None:
    modules_of_passes = {each.function.__module__: name for name, each in PASSES.items()}
    tables = {"capture_passes", "graph_passes", "region_passes", "compile_region"}
    wrong = []
    for path in SOURCES.rglob("*.py"):
        if path.stem in tables:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module in modules_of_passes:
                names = {alias.name for alias in node.names}
                if modules_of_passes[node.module] in names:
                    wrong.append(f"{path.relative_to(SOURCES)} imports {node.module}")
    assert not wrong


@pytest.mark.parametrize(
    "table",
    [
        "passes/pipeline/capture_passes.py",
        "passes/pipeline/graph_passes.py",
        "passes/pipeline/region_passes.py",
        "devices/llvm/compile_region.py",
    ],
)
def test_a_table_names_its_passes_and_calls_none(table: str) -> None:
    called = {
        node.func.id
        for node in ast.walk(ast.parse((SOURCES / table).read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & PASSES.keys()
