"""Which operators there are, and where."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from ogive.onnx import operators

FOLDER = Path(operators.__path__[0])
PROGRAM = """
import json, sys
import ogive.onnx
from ogive.onnx import operators
before = set(sys.modules)
operators.find("", "Relu", 14)
relu = set(sys.modules)
operators.find("ai.onnx.ml", "TreeEnsembleClassifier", 1)
print(json.dumps([sorted(m for m in loaded if m.startswith("ogive.")) for loaded in (
    before, relu - before, set(sys.modules) - relu)]))
"""


def test_every_family_is_in_the_list() -> None:
    families = {
        f"{path.parent.name}.{path.stem}"
        for path in FOLDER.glob("*/[!_]*.py")
        if "@operator" in path.read_text()
    }
    assert set(operators.FAMILIES) == families
    assert len(operators.FAMILIES) == len(set(operators.FAMILIES))


def test_a_model_loads_the_families_that_it_needs_and_no_layers() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)
    before, relu, trees = json.loads(done.stdout)
    assert not [name for name in before if name.startswith(("ogive.nn", "ogive.autograd"))]
    assert "ogive.onnx.operators.values.elementwise" in relu
    assert "ogive.onnx.operators.images.resizing" not in relu
    assert "ogive.onnx.operators.learners.tree_ensembles" in trees
    assert "ogive.onnx.operators.values.matrix_products" not in trees


def test_what_is_nowhere_is_not_found() -> None:
    assert operators.find("", "Relu", 14) is not None
    assert operators.find("", "NoSuchOperator", 14) is None
    assert operators.find("no.such.domain", "Relu", 1) is None
