"""What a node is known by: tag, metadata, content key, ranges."""

from __future__ import annotations

import os
import subprocess
import sys

from ogive.compiler.ir.dtype import float32, index
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from tests.compiler.ir.chains import chain


def test_the_tag_is_identity_and_metadata_is_not() -> None:
    node = chain(2)
    tagged = node.with_tag("mine")
    assert tagged is not node
    assert tagged is node.with_tag("mine")
    assert tagged.content_key == node.content_key
    noted = node.with_metadata("a note")
    assert noted is not node
    assert noted is not node.with_metadata("a note")
    assert noted.id != node.id
    assert noted.content_key == node.content_key
    assert noted.find_metadata(str) == "a note"
    assert noted.find_metadata(int) is None
    assert chain(2) is node


def test_metadata_is_carried_over_by_replace() -> None:
    noted = chain(1).with_metadata("a note")
    changed = noted.replace(src=(noted.src[1], noted.src[1]))
    assert changed.find_metadata(str) == "a note"


def test_two_uniques_are_never_merged() -> None:
    assert UOp.unique() is not UOp.unique()


_PROGRAM = """
from ogive.compiler.ir.dtype import float32, index
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
for unrelated in range({unrelated}):
    UOp.const(float32, unrelated)
extent = UOp.const(index, 8)
i, j = [UOp(Op.RANGE, index, (extent,), (n, None)) for n in {order}][::{step}]
value = UOp(Op.CAST, float32, (i * 4 + j + (j * 3 + i) // 5,))
print(UOp(Op.ADD, float32, (value, UOp.const(float32, -0.0))).content_key.hex())
"""


def test_content_keys_agree_across_processes_hash_seeds_and_build_order() -> None:
    keys = set()
    for seed, unrelated, order, step in [
        (0, 0, "(0, 1)", 1),
        (1, 9, "(1, 0)", -1),
        (7, 50, "(0, 1)", 1),
    ]:
        program = _PROGRAM.format(unrelated=unrelated, order=order, step=step)
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True, text=True, env=environment, check=True,
        )  # fmt: skip
        keys.add(done.stdout.strip())
    assert len(keys) == 1
    assert len(keys.pop()) == 32


def test_closed_ranges_are_not_used_ranges() -> None:
    i, j = (UOp(Op.RANGE, index, (UOp.const(index, 8),), (n, None)) for n in (0, 1))
    value = UOp(Op.CAST, float32, (i + j,))
    assert value.ranges == {i, j}
    assert UOp(Op.REDUCE, float32, (value, j), Op.ADD).ranges == {i}
