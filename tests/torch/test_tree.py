"""The modules of `ogive.torch` are found by their dotted paths, and as `torch` when asked for."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import torch as pytorch

import ogive
import ogive.torch as torch
from ogive.torch.names import METHODS, NUMBER_FIRST, OWN, SAME, TREE
from ogive.torch.tree import public_names
from tests.new_process import output_of
from tests.raising import raises


@pytest.mark.parametrize("name", sorted(TREE))
def test_a_module_is_importable_by_its_path_and_shows_its_names(name: str) -> None:
    module = importlib.import_module(f"ogive.torch.{name}")
    assert all(hasattr(module, each) for each in dir(module))


@pytest.mark.parametrize("name", sorted(TREE))
def test_a_module_has_the_path_that_pytorch_has(name: str) -> None:
    try:
        importlib.import_module(f"torch.{name}")
    except ModuleNotFoundError as error:  # of TensorBoard, which PyTorch's writer needs
        assert error.name == "tensorboard"


def test_what_the_namespace_shows_is_there() -> None:
    assert [name for name in dir(torch) if not hasattr(torch, name)] == []


def test_every_name_of_the_tables_is_one_of_pytorchs() -> None:
    assert [n for n in (*METHODS, *NUMBER_FIRST, *SAME) if not hasattr(pytorch, n)] == []


def test_no_name_is_in_two_tables() -> None:
    names = (*METHODS, *NUMBER_FIRST, *SAME)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("source", OWN)
def test_the_table_has_all_names_of_a_module_of_our_own(source: str) -> None:
    assert sorted(OWN[source]) == sorted(public_names(importlib.import_module(source)))


def test_a_name_loads_no_module_but_its_own() -> None:
    program = (
        "import ogive.torch, sys; ogive.torch.cat; ogive.torch.manual_seed;"
        "print([name for name in ('ogive.io', 'ogive.amp', 'zipfile') if name in sys.modules])"
    )
    done = output_of(program)
    assert done == "[]\n"


def test_what_is_the_same_is_the_same_object() -> None:
    assert torch.float32 is ogive.float32
    assert torch.polar is ogive.polar
    assert torch.nn.Linear is ogive.nn.Linear
    assert torch.optim.Adam is ogive.optim.Adam


def test_an_absent_name_says_where_to_look() -> None:
    with raises(AttributeError, match=r"no attribute 'sspaddmm'; see docs/pytorch.md"):
        _ = torch.sspaddmm
    with raises(AttributeError, match=r"'ogive.torch.nn' has no attribute 'Linea'"):
        _ = torch.nn.Linea


def test_import_ogive_does_not_load_it() -> None:
    program = "import ogive, sys; print(any(n.startswith('ogive.torch') for n in sys.modules))"
    done = output_of(program)
    assert done.strip() == "False"


def test_install_makes_torch_ours_and_uninstall_gives_it_back() -> None:
    torch.install()
    try:
        torch.install()  # once more changes nothing
        assert importlib.import_module("torch") is torch
        assert importlib.import_module("torch.nn.functional") is torch.nn.functional
        assert "ogive.torch.nn.functional" in str(torch.nn.functional.__spec__)
        with raises(ModuleNotFoundError, match=r"torch.monitor.*see docs/pytorch.md"):
            importlib.import_module("torch.monitor")
    finally:
        torch.uninstall()
    assert importlib.import_module("torch") is pytorch
    assert sys.modules["torch.nn"] is pytorch.nn


SCRIPT = """
import sys
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

print(torch.__name__, sys.argv[1:], __name__)
"""


def test_a_script_runs_unchanged(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "ogive.torch", str(script), "--epochs", "3"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "ogive.torch ['--epochs', '3'] __main__\n", done.stderr


def test_without_a_script_it_says_how_it_is_used() -> None:
    done = subprocess.run([sys.executable, "-m", "ogive.torch"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout.startswith("usage: python -m ogive.torch")
