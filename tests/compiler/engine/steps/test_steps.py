"""Plans of kernels, copies and calls: their order, memory, records and caches."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor
from ogive.compiler.devices.disk.disk_files import DiskBuffer
from ogive.compiler.devices.handle import find_handle
from ogive.compiler.devices.python_function import PythonFunction
from ogive.compiler.engine import Plan
from ogive.compiler.engine.steps.compiled_graph import Launch
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.passes.regions.slots import CallStep, CopyStep, Slot
from ogive.compiler.store.content_keys import make_key
from ogive.compiler.store.encoding import DamagedRecord
from ogive.compiler.store.records import (
    GraphRecord,
    KernelRecord,
    LaunchRecord,
    pack_graph,
    unpack_graph,
)
from ogive.errors import DeviceError, ExecuteError
from tests.raising import raises

Array = NDArray[Any]


def double(given: Array, result: Array) -> None:
    result[...] = given * 2


def a_plan(path: Path) -> tuple[Tensor, Plan]:
    x = Tensor.from_file(path, (8, 4), "float32")
    y = ogive.custom(double, [x + 1], ((8, 4), "float32")).sum()
    return y, y.prepare()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "values.bin"
    place.write_bytes(numpy.arange(32, dtype=numpy.float32).tobytes())
    return place


def test_steps_list_everything_and_kernels_only_kernels(path: Path) -> None:
    y, plan = a_plan(path)
    kinds = [str(step).strip("<>").split()[0] for step in plan.steps]
    assert kinds == ["copy", "launch", "call", "launch"]
    launched = [step.kernel for step in plan.steps if isinstance(step, Launch)]
    assert list(plan.kernels) == launched
    plan.execute()
    assert y.item() == (numpy.arange(32) + 1).sum() * 2


def test_copies_and_calls_have_lives(path: Path) -> None:
    _, plan = a_plan(path)
    memory = plan.memory
    # The file's copy, what the function reads and what it writes: never more than two at once.
    assert memory.logical == 3 * 128
    assert memory.peak == memory.planned == 2 * 128
    assert sorted(memory.left_out.values()) == ["an input", "an input", "an output"]


def test_a_handle_is_no_memory(path: Path) -> None:
    buffer = DiskBuffer(str(path), 0, 16)
    assert find_handle(buffer.address, DiskBuffer) is buffer
    with raises(DeviceError, match="DISK"):
        buffer.as_numpy()
    with raises(ExecuteError, match="PythonFunction"):
        find_handle(buffer.address, PythonFunction)
    number = buffer.address
    del buffer
    with raises(ExecuteError, match="which is gone"):
        find_handle(number, DiskBuffer)


# Records

SLOTS = (
    Slot(dtypes.float32, 32, 0, device="DISK"),
    Slot(dtypes.uint8, 0, 1, device="PYTHON"),
    Slot(dtypes.float32, 32, None),
    Slot(dtypes.float32, 32, None),
    Slot(dtypes.int64, 4, None),
)
COPY = CopyStep((2, 0))
CALL = CallStep("double", (3, 4, 1, 2), ((8, 4), (4,)), ((4, 8),))
KERNEL = KernelRecord("kernel", (("lane", 8),), (0, 1), 1, {}, 1, 1, (1, 4, 4), make_key(b"code"))


def record(*steps: Any, outputs: tuple[int, ...] = (3,)) -> GraphRecord:
    numbers = tuple(range(len(steps)))
    offsets = [-1, -1, 0, 192, 128]
    for output in outputs:
        offsets[output] = -1
    return GraphRecord((KERNEL,), steps, SLOTS, outputs, {}, numbers, numbers, tuple(offsets))


def test_steps_survive_the_way() -> None:
    launch = LaunchRecord(0, (3, 2), 1, 1)
    for steps in ((COPY,), (CALL,), (COPY, launch, CALL, launch), (launch, CALL, COPY, COPY)):
        assert unpack_graph(pack_graph(record(*steps))) == record(*steps)


@pytest.mark.parametrize(
    "bad",
    [
        record(CopyStep((2,))),
        record(CopyStep((2, 0, 0))),
        record(CopyStep((0, 2))),
        record(CopyStep((2, 1))),
        record(CopyStep((4, 1))),
        record(CopyStep((4, 0))),
        record(CopyStep((2, 9))),
        record(CALL._replace(slots=(3, 4, 1))),
        record(CALL._replace(slots=(3, 4, 2, 1))),
        record(CALL._replace(slots=(3, 0, 1, 2))),
        record(CALL._replace(slots=(0, 4, 1, 2))),
        record(CALL._replace(reads=((4, 9),))),
        record(CALL._replace(writes=((8, 4), (-4,)))),
        record(CallStep("none", (1, 2), (), ((8, 4),))),
        record(COPY, LaunchRecord(0, (3, 0), 1, 1)),
        record(CALL, LaunchRecord(0, (3, 1), 1, 1)),
        record(COPY, CALL._replace(slots=(3, 4, 1, 0))),
        record(COPY, outputs=(0,)),
        record(COPY, CALL)._replace(levels=(0, 0)),
    ],
)
def test_steps_that_make_no_sense_are_damaged(bad: GraphRecord) -> None:
    with pytest.raises(DamagedRecord):
        unpack_graph(pack_graph(bad))


@pytest.mark.parametrize("seed", range(40))
def test_random_changes_give_a_record_or_an_error_of_ours(seed: int) -> None:
    generator = random.Random(seed)
    data = bytearray(pack_graph(record(COPY, CALL, LaunchRecord(0, (3, 2), 1, 1))))
    for _ in range(generator.choice((1, 2, 20))):
        data[generator.randrange(len(data))] = generator.randrange(256)
    try:
        found = unpack_graph(bytes(data))
    except DamagedRecord:
        return
    assert all(slot < len(found.slots) for step in found.steps for slot in step.slots)


# Other processes

PROGRAM = """
import json, sys
import numpy, ogive
from ogive import Tensor

x = Tensor.from_file(sys.argv[1], (8, 4), "float32")
y = ogive.custom(lambda given, made: numpy.copyto(made, given * 2), [x + 1], ((8, 4), "float32"))
found = [(y.sum(0) * 3).tolist(), (x[2:4] @ x.T).tolist(), x.to("CPU").tolist()]
print(json.dumps([found, ogive.counters()]))
"""


def test_a_second_process_compiles_nothing(path: Path, tmp_path: Path) -> None:
    def run() -> tuple[Any, dict[str, int]]:
        environment = {**os.environ, "OGIVE_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(path)],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        found, counts = json.loads(done.stdout)
        return found, counts

    first, counts = run()
    assert counts["schedules_created"] == 3
    path.write_bytes((2 * numpy.arange(32, dtype=numpy.float32)).tobytes())
    second, counts = run()
    assert counts["schedules_created"] == counts["kernels_compiled"] == 0
    assert counts["schedule_disk_hits"] == 3
    array = 2 * numpy.arange(32).reshape(8, 4)
    assert second[0] == (((array + 1) * 2).sum(0) * 3).tolist() != first[0]
    assert second[1] == (array[2:4] @ array.T).tolist()
    assert second[2] == array.tolist()


# Random graphs


@pytest.mark.parametrize("seed", range(12))
def test_random_plans_agree_with_numpy_in_every_mode(seed: int, tmp_path: Path) -> None:
    results = []
    for planner in ("arena", "remap", "disabled"):
        generator = random.Random(seed)
        array = numpy.random.default_rng(seed).integers(-9, 9, (6, 6)).astype(numpy.float32)
        file = tmp_path / "values.bin"
        file.write_bytes(array.tobytes())
        pairs = [(Tensor.from_file(file, (6, 6), "float32"), array), (Tensor(array.T), array.T)]
        for _ in range(12):
            (a, left), (b, right) = generator.choice(pairs), generator.choice(pairs)
            kind = generator.randrange(6)
            if kind == 0:
                pairs.append((ogive.custom(double, [a], ((6, 6), "float32")), left * 2))
            elif kind == 1:
                pairs.append((a + b, left + right))
            elif kind == 2:
                pairs.append((a.T.contiguous(), left.T))
            elif kind == 3:
                pairs.append((ogive.cat([a[3:], b[:3]]), numpy.concatenate([left[3:], right[:3]])))
            elif kind == 4 and a.device == "CPU":
                pairs.append((a * 1, left))
                a.assign(b - a)
                at = next(at for at, (tensor, _) in enumerate(pairs) if tensor is a)
                pairs[at] = a, right - left
            else:
                pairs.append((a.sum(1, keepdim=True) - b, left.sum(1, keepdims=True) - right))
        tensors = [tensor for tensor, _ in pairs]
        Tensor.realize_batch(tensors, Config(planner=planner))
        for tensor, expected in pairs:
            numpy.testing.assert_allclose(tensor.numpy(), expected, rtol=1e-4)
        results.append([tensor.numpy().tobytes() for tensor in tensors])
    assert results[0] == results[1] == results[2]
