"""A second process does no work that the first has done, whatever happened in between."""

from __future__ import annotations

import json
import os
import platform
import random
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ogive.compiler.store.database import database_path

PROGRAM = """
import json, sys
import numpy
import ogive
from ogive import Tensor, Variable
from ogive.errors import DivisionByZeroError

rng = numpy.random.default_rng(5)
results = []

def keep(tensor):
    results.append(tensor.numpy().tobytes().hex())

x = Tensor(rng.standard_normal((33, 17)).astype("float32"))
y = Tensor(rng.standard_normal((17, 29)).astype("float32"))
keep(x + 1)
keep((x @ y).softmax(-1))
keep(x.layer_norm((17,)).gelu())
keep(x.sum(0) / x.max())
keep(x.T.contiguous())
keep(ogive.cat([x, x * 2], 1))
keep(ogive.where(x > 0, x, -x))
keep((x * 100).cast(ogive.int32) // 7)
keep(x.cast(ogive.bfloat16).cast(ogive.float64) + 1)
keep(x > 0.5)
keep(x[3:20:4, ::-2])
keep(ogive.arange(100).reshape(4, 25))
n = Variable("n", 1, 33)
for value in (4, 20):
    keep(x.shrink(((0, n.bind(value)), (0, 17))).sum(1))
z = Tensor(numpy.zeros((6, 6), "float32"))
z[1:3] = 5.0
keep(z)
a, b = x.exp(), x.exp() + 1
Tensor.realize_batch([a, b])
keep(b)
plan = (w := x * 3 + 2).prepare()
plan.execute()
keep(w)
total = x[: n.bind(5)].sum(0)
plan = Tensor.prepare_batch([total, total * 2])
for value in (5, 30):
    plan.execute_with_vars(n=value)
    keep(total)
z.assign(z * 2 + 1)
z[::2, 1] = z[1::2, 0]
keep(z)
m = Variable("m", 1, 3).bind(2)
z[:m, :2] = z[:m, 3:5] + 1
keep(z)

def triple(given, made):
    made[...] = given * 3

keep(ogive.custom(triple, [x + 1], ((33, 17), "float32")).sum(0))
file = Tensor.from_file(sys.argv[1], (8, 4), "float32")
keep(file + 1)
keep(file[2:4] @ file.T)
keep(file.to("CPU"))

state = Tensor(numpy.zeros(17, "float32"))

@ogive.jit
def step(rows, scale=2):
    state.assign(state * 0.5 + rows.sum(0))
    return {"scaled": rows * scale, "pair": (state + 1, rows @ y)}

for value in (3, 9):
    made = step(x[: n.bind(value)])
    keep(made["scaled"])
    keep(made["pair"][0])
keep(step(x, scale=3)["pair"][1])
keep(state)
try:
    (Tensor([1, 2]) // Tensor([1, 0])).realize()
except DivisionByZeroError as error:
    results.append(str(error))
counts = ogive.counters()
counts["llvmlite"] = int("llvmlite" in sys.modules)
counts["compiler"] = int("ogive.compiler.devices.llvm.emit" in sys.modules)
print(json.dumps([counts, results]))
"""

SMALL = """
import sys
import numpy
from ogive import Tensor
x = Tensor(numpy.arange(12, dtype="float32").reshape(3, 4))
for number in range(int(sys.argv[1]), int(sys.argv[1]) + 6):
    assert (x * number + 1).sum().item() == 66 * number + 12, number
    assert ((x + number) @ x.T).numpy()[0, 0] == 14 + 6 * number, number
print("done")
"""


def run(
    program: str, folder: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OGIVE_CACHE_DIR": str(folder), **variables}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


def report(folder: Path, **variables: str) -> tuple[dict[str, int], list[str]]:
    file = folder.with_name("values.bin")
    file.write_bytes(b"".join(struct.pack("<f", number) for number in range(32)))
    counts, results = json.loads(run(PROGRAM, folder, str(file), **variables).stdout)
    return counts, results


def test_a_second_process_neither_schedules_nor_compiles(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    first, results = report(folder)
    assert first["schedules_created"] > 10 and first["kernels_compiled"] > 10
    second, again = report(folder)
    assert again == results
    assert second["schedules_created"] == second["kernels_compiled"] == 0
    assert second["schedule_disk_hits"] + second["schedule_hits"] >= first["schedules_created"]
    assert first["llvmlite"] == second["llvmlite"] == 0
    assert "damaged" not in " ".join(os.listdir(folder))
    third, without = report(folder, OGIVE_DISK_CACHE="0")
    assert without == results
    assert third["schedule_disk_hits"] == third["kernel_disk_hits"] == 0
    fourth, neither = report(folder, OGIVE_SCHEDULE_CACHE="0")
    assert neither == results
    assert fourth["schedule_disk_hits"] == fourth["schedule_hits"] == 0


def test_a_warm_start_loads_no_part_of_the_compiler_and_no_start_llvmlite(tmp_path: Path) -> None:
    program = "from ogive import Tensor; import sys; (Tensor([1.0]) + 1).realize(); " + (
        "compiler = 'ogive.compiler.'; print(*[m for m in sys.modules if m.startswith(('llvmlite', "
        "*[compiler + m for m in ('devices.llvm.emit', 'passes.fuse', "
        "'passes.pipeline.graph_passes')]))])"
    )
    first = run(program, tmp_path / "cache").stdout
    assert "ogive.compiler.devices.llvm.emit" in first and "llvmlite" not in first
    assert run(program, tmp_path / "cache").stdout.split() == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and links other objects by LLVM")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="links other objects by LLVM")
def test_a_warm_start_does_not_load_llvm(tmp_path: Path) -> None:
    program = "from ogive import Tensor; (Tensor([1.0]) + 1).realize(); "
    program += "print('libllvmlite' in open('/proc/self/maps').read())"
    assert run(program, tmp_path / "cache").stdout.split() == ["True"]
    assert run(program, tmp_path / "cache").stdout.split() == ["False"]


@pytest.mark.parametrize("seed", range(3))
def test_a_damaged_file_costs_a_compilation_and_no_more(tmp_path: Path, seed: int) -> None:
    folder = tmp_path / "cache"
    run(SMALL, folder, "1")
    path = Path(database_path(str(folder)))
    generator = random.Random(seed)
    data = bytearray(path.read_bytes())
    for _ in range(300):
        data[generator.randrange(len(data))] = generator.randrange(256)
    path.write_bytes(data)
    done = run(SMALL, folder, "1")
    assert done.stdout == "done\n"
    assert done.stderr.count("CacheWarning") <= 1
    assert run(SMALL, folder, "1").stderr == ""


def test_a_refused_folder_is_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o755)
    done = run(SMALL, folder, "1")
    assert done.stdout == "done\n"
    assert done.stderr.count("CacheWarning") == 1
    assert os.listdir(folder) == []


def kill_programs(folder: Path, kills: int) -> None:
    """Kill one of four processes that compile, again and again, at random moments."""
    environment = {**os.environ, "OGIVE_CACHE_DIR": str(folder)}

    def start(number: int) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-c", SMALL, str(number)],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    generator = random.Random(kills)
    processes = [start(number) for number in range(4)]
    for number in range(kills):
        time.sleep(generator.uniform(0, 0.4))
        victim = processes.pop(generator.randrange(len(processes)))
        victim.kill()
        _, errors = victim.communicate()
        assert victim.returncode in (0, -9), errors
        # One half of what each compiles is new, the other its neighbours'.
        processes.append(start(3 * number))
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    assert run(SMALL, folder, "0").stderr == ""
    assert not [name for name in os.listdir(folder) if "damaged" in name]


def test_programs_that_are_killed_harm_no_others(tmp_path: Path) -> None:
    kill_programs(tmp_path / "cache", 5)


@pytest.mark.soak
def test_programs_that_are_killed_200_times_harm_no_others(tmp_path: Path) -> None:
    kill_programs(tmp_path / "cache", 200)
