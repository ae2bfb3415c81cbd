"""Files as a read-only device."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor
from ogive.compiler.devices.disk.disk_files import DiskBuffer
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeviceError,
    DtypeError,
    FileError,
    ShapeError,
    words_of,
)
from tests.compiler.engine.counting import Count
from tests.raising import raises

Array = NDArray[Any]
MakeFile = Callable[..., str]


@pytest.fixture
def make_file(tmp_path: Path) -> MakeFile:
    def make(array: Array, name: str = "values.bin", before: bytes = b"") -> str:
        path = tmp_path / name
        path.write_bytes(before + array.tobytes())
        return str(path)

    return make


def values(*shape: int, seed: int = 0) -> Array:
    return numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The (offset, size) of what is read from files."""
    seen: list[tuple[int, int]] = []
    original = DiskBuffer.read_into

    def read_into(self: DiskBuffer, target: memoryview) -> None:
        seen.append((self.offset, self.nbytes))
        original(self, target)

    monkeypatch.setattr(DiskBuffer, "read_into", read_into)
    return seen


def test_a_file_is_on_disk_and_lazy(make_file: MakeFile, reads: list[Any]) -> None:
    x = Tensor.from_file(make_file(values(5, 3)), (5, 3), "float32")
    assert (x.device, x.shape, x.dtype, x.is_realized) == ("DISK", (5, 3), ogive.float32, False)
    assert "lazy" in repr(x)
    assert (x[1:].device, x.T.device, x.reshape(15).device) == ("DISK", "DISK", "DISK")
    assert x.realize() is x
    assert x.device == "DISK"
    assert not reads


@pytest.mark.parametrize("offset", [0, 1, 4096])
def test_values_come_from_the_offset_on(make_file: MakeFile, offset: int) -> None:
    array = values(7, 3)
    x = Tensor.from_file(make_file(array, before=bytes(offset)), (7, 3), "float32", offset)
    numpy.testing.assert_array_equal(x.numpy(), array)
    numpy.testing.assert_array_equal((x * 2).numpy(), array * 2)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float64"])
def test_every_dtype_is_read(make_file: MakeFile, dtype: str) -> None:
    array = numpy.random.default_rng(1).integers(0, 2, (4, 5)).astype(dtype)
    x = Tensor.from_file(make_file(array), [4, 5], dtype)
    numpy.testing.assert_array_equal(x.numpy(), array)


@pytest.mark.parametrize(
    ("index", "first", "rows"),
    [
        (numpy.s_[3], 3, 1),
        (numpy.s_[2:5], 2, 3),
        (numpy.s_[2:5, 1:3], 2, 3),
        (numpy.s_[-1:], 9, 1),
        (numpy.s_[4:5], 4, 1),
    ],
)
def test_only_the_rows_of_a_slice_are_read(
    make_file: MakeFile, reads: list[Any], index: Any, first: int, rows: int
) -> None:
    array = values(10, 6)
    x = Tensor.from_file(make_file(array, before=b"12345678"), (10, 6), "float32", 8)
    numpy.testing.assert_array_equal((x[index] + 1).numpy(), array[index] + 1)
    assert reads == [(8 + first * 24, rows * 24)]


def test_a_part_of_one_row_is_read_alone(make_file: MakeFile, reads: list[Any]) -> None:
    array = values(10, 6)
    x = Tensor.from_file(make_file(array), (10, 6), "float32")
    numpy.testing.assert_array_equal((x[4, 2:5] + 1).numpy(), array[4, 2:5] + 1)
    numpy.testing.assert_array_equal((x[2:8][1:3] + 1).numpy(), array[3:5] + 1)
    assert reads == [(4 * 24 + 8, 12), (3 * 24, 48)]


@pytest.mark.parametrize(
    "index",
    [numpy.s_[:, 2], numpy.s_[::2], numpy.s_[::-1], numpy.s_[1:9:3, ::-1], numpy.s_[3:3]],
)
def test_other_views_are_right_too(make_file: MakeFile, index: Any) -> None:
    array = values(10, 6)
    x = Tensor.from_file(make_file(array), (10, 6), "float32")
    numpy.testing.assert_array_equal(x[index].numpy(), array[index])
    numpy.testing.assert_array_equal((x.T + 1).numpy(), array.T + 1)


def test_readers_share_one_copy(make_file: MakeFile, reads: list[Any]) -> None:
    array = values(8, 8)
    x = Tensor.from_file(make_file(array), (8, 8), "float32")
    a, b, c = (x + 1).sum(), x.T @ x, x[2:4] * 3
    plan = Tensor.prepare_batch([a, b, c])
    plan.execute()
    assert len(reads) == 1
    assert [str(step) for step in plan.steps].count("<copy slot 0 to slot 1>") == 1
    numpy.testing.assert_allclose(b.numpy(), array.T @ array, rtol=1e-5, atol=1e-5)
    numpy.testing.assert_array_equal(c.numpy(), array[2:4] * 3)


def test_files_go_with_memory_and_results_are_on_the_cpu(make_file: MakeFile) -> None:
    array, other = values(4, 6), values(6, 2, seed=1)
    x = Tensor.from_file(make_file(array), (4, 6), "float32")
    for result in (x @ Tensor(other), x + 1, 1 + x, x.sum(), x.cast("int32"), ogive.zeros_like(x)):
        assert result.device == "CPU"
    y = Tensor(array)
    assert (x + y).device == (y + x).device == ogive.cat([x, y]).device == "CPU"
    numpy.testing.assert_array_equal((y - x).numpy(), array - array)
    assert ogive.stack([x, x]).shape == (2, 4, 6)
    y.assign(x[::-1])
    numpy.testing.assert_array_equal(y.numpy(), array[::-1])


def test_to_cpu_is_one_copy_and_becomes_memory(make_file: MakeFile, reads: list[Any]) -> None:
    array = values(4, 6)
    path = make_file(array)
    x = Tensor.from_file(path, (4, 6), "float32")
    copy = x.to("CPU")
    assert (copy.device, x.device, x.to("DISK").device) == ("CPU", "DISK", "DISK")
    plan = copy.prepare()
    assert len(plan.steps) == 1 and not plan.kernels
    plan.execute()
    assert copy.is_realized
    os.remove(path)
    numpy.testing.assert_array_equal(copy.numpy(), array)
    copy[0] = 7
    assert copy[0].tolist() == [7] * 6
    assert reads == [(0, 96)]


def test_two_shapes_of_one_copy_are_two_tensors(make_file: MakeFile) -> None:
    array = values(4, 6)
    x = Tensor.from_file(make_file(array), (4, 6), "float32")
    a, b, c = x.to("CPU"), x.reshape(24).to("CPU"), Tensor(x)
    Tensor.realize_batch([a, b, c])
    a.assign(a * 0)
    numpy.testing.assert_array_equal(a.numpy(), array * 0)
    numpy.testing.assert_array_equal(b.numpy(), array.reshape(24))


def test_disk_is_read_only(make_file: MakeFile) -> None:
    array = values(4)
    x = Tensor.from_file(make_file(array), (4,), "float32")
    with raises(DeviceError, match="read-only"):
        x.assign(x * 2)
    with raises(DeviceError, match="read-only"):
        x[1:2] = 5
    with raises(DeviceError, match="read-only"):
        Tensor(array).to("DISK")
    with raises(DeviceError, match="read-only"):
        Tensor(array, device="disk")
    numpy.testing.assert_array_equal(x.numpy(), array)


def test_values_are_those_of_the_file_when_it_is_read(make_file: MakeFile) -> None:
    first, second, third = values(4), values(4, seed=1), values(4, seed=2)
    path = make_file(first)
    x = Tensor.from_file(path, (4,), "float32")
    y = x * 2
    plan = y.prepare()
    for array in (first, second):
        make_file(array)
        plan.execute()
        numpy.testing.assert_array_equal(y.numpy(), array * 2)
    os.replace(make_file(third, "other.bin"), path)
    plan.execute()
    numpy.testing.assert_array_equal(y.numpy(), third * 2)
    numpy.testing.assert_array_equal(x.numpy(), third)


@pytest.mark.parametrize("damage", ["truncate", "remove", "folder"])
def test_a_file_that_is_damaged_between_prepare_and_execute(
    make_file: MakeFile, damage: str
) -> None:
    array = values(40)
    path = make_file(array)
    y = Tensor.from_file(path, (40,), "float32") * 2
    plan = y.prepare()
    if damage == "truncate":
        os.truncate(path, 100)
    else:
        os.remove(path)
    if damage == "folder":
        os.mkdir(path)
    with raises(FileError, match=r"values\.bin") as caught:
        plan.execute()
    assert isinstance(caught.value, OSError)
    if damage == "truncate":
        assert "100 bytes" in words_of(caught.value) and "160" in words_of(caught.value)
    if damage == "folder":
        os.rmdir(path)
    make_file(array)
    plan.execute()
    numpy.testing.assert_array_equal(y.numpy(), array * 2)


def test_an_assignment_before_a_damaged_file_is_carried_out_once(make_file: MakeFile) -> None:
    path = make_file(values(4))
    x = Tensor.from_file(path, (4,), "float32")
    total = Tensor([1.0, 1.0, 1.0, 1.0]).realize()
    total.assign(total + 1)
    result = total + x.sum()
    os.truncate(path, 3)
    with pytest.raises(FileError):
        result.numpy()
    assert total.tolist() == [2.0] * 4


def test_bad_arguments_are_told_at_once(make_file: MakeFile, tmp_path: Path) -> None:
    path = make_file(values(4))
    with raises(FileError, match="16 bytes, and bytes 4 to 20"):
        Tensor.from_file(path, (4,), "float32", 4)
    with raises(FileError, match="nowhere"):
        Tensor.from_file(tmp_path / "nowhere", (4,), "float32")
    with raises(FileError, match="not a regular file"):
        Tensor.from_file(tmp_path, (4,), "float32")
    os.mkfifo(tmp_path / "pipe")
    with raises(FileError, match="not a regular file"):
        Tensor.from_file(tmp_path / "pipe", (4,), "float32")
    with pytest.raises(FileError):
        Tensor.from_file("a\0b", (4,), "float32")
    with raises(ArgumentError, match="offset -1"):
        Tensor.from_file(path, (1,), "float32", -1)
    with raises(ArgumentError, match="no file has"):
        Tensor.from_file(path, (1 << 62,), "float32")
    with raises(ArgumentTypeError, match="offset"):
        Tensor.from_file(path, (1,), "float32", 1.5)  # type: ignore[arg-type]
    with raises(ArgumentTypeError, match="path"):
        Tensor.from_file(3, (1,), "float32")  # type: ignore[arg-type]
    with raises(ArgumentTypeError, match="shape"):
        Tensor.from_file(path, 4, "float32")  # type: ignore[arg-type]
    with raises(ShapeError, match="negative"):
        Tensor.from_file(path, (-4,), "float32")
    with pytest.raises(DtypeError):
        Tensor.from_file(path, (4,), "float33")
    assert Tensor.from_file(path, (0, 4), "float32").numpy().shape == (0, 4)
    assert ogive.cat([Tensor.from_file(path, (0,), "float32"), Tensor([1.0])]).tolist() == [1.0]


def test_another_file_and_other_rows_of_the_same_shape_hit_the_cache(make_file: MakeFile) -> None:
    def total(path: str, row: int) -> float:
        rows = Tensor.from_file(path, (6, 4), "float32")
        return float((rows[row] * 3 + 0.125).sum().item())

    one, two = values(6, 4), values(6, 4, seed=1)
    paths = make_file(one, "one.bin"), make_file(two, "two.bin")
    total(paths[0], 0)
    with Count() as counts:
        found = [total(paths[0], 3), total(paths[1], 2)]
    assert counts["schedules_created"] == counts["kernels_compiled"] == 0
    assert counts["schedule_hits"] == 2
    expected = [(one[3] * 3 + 0.125).sum(), (two[2] * 3 + 0.125).sum()]
    numpy.testing.assert_allclose(found, expected, rtol=1e-5)


def test_memory_of_the_same_shape_is_another_graph(make_file: MakeFile) -> None:
    array = values(6, 4)
    x = Tensor.from_file(make_file(array), (6, 4), "float32")
    for source in (x, Tensor(array), x, Tensor(array)):
        numpy.testing.assert_array_equal((source * 5).numpy(), array * 5)


def test_planner_modes_and_caches_agree(make_file: MakeFile) -> None:
    array = values(33, 17)
    path = make_file(array)
    results = []
    for planner in ("arena", "remap", "disabled"):
        for cached in (True, False):
            config = Config(planner=planner, schedule_cache=cached)
            x = Tensor.from_file(path, (33, 17), "float32")
            y = ((x @ x.T).exp().sum(0) + x[3:20].sum()) * x[:, 0]
            results.append(y.realize(config).numpy())
    for result in results[1:]:
        assert result.tobytes() == results[0].tobytes()


def test_threads_read_the_same_file(make_file: MakeFile) -> None:
    array = values(64, 64)
    x = Tensor.from_file(make_file(array), (64, 64), "float32")
    failures: list[object] = []

    def work(row: int) -> None:
        for _ in range(20):
            found = (x[row] + x.sum(0)).numpy()
            if not numpy.allclose(found, array[row] + array.sum(0), rtol=1e-4, atol=1e-4):
                failures.append(found)

    threads = [threading.Thread(target=work, args=(row,)) for row in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_jitted_function_reads_files(make_file: MakeFile) -> None:
    one, two = values(6, 4), values(6, 4, seed=1)
    weights = Tensor.from_file(make_file(one, "one.bin"), (6, 4), "float32")
    other = Tensor.from_file(make_file(two, "two.bin"), (6, 4), "float32")

    @ogive.jit
    def add(x: Tensor) -> Tensor:
        return x * 2 + weights[1]

    for _ in range(2):
        numpy.testing.assert_array_equal(add(other).numpy(), two * 2 + one[1])
        numpy.testing.assert_array_equal(add(Tensor(two)).numpy(), two * 2 + one[1])
        numpy.testing.assert_array_equal(add(weights).numpy(), one * 2 + one[1])
    with raises(DeviceError, match="whole files"):
        add(other[1:3])

    @ogive.jit
    def rows(x: Tensor) -> Tensor:
        return x[1:3]

    found = rows(other)
    assert found.device == "CPU"
    numpy.testing.assert_array_equal(found.numpy(), two[1:3])


def test_a_variable_may_choose_rows(make_file: MakeFile) -> None:
    array = values(6, 4)
    x = Tensor.from_file(make_file(array), (6, 4), "float32")
    total = x[: ogive.Variable("n", 0, 6).bind(2)].sum(0)
    plan = total.prepare()
    for n in (1, 6):
        plan.execute_with_vars(n=n)
        numpy.testing.assert_allclose(total.numpy(), array[:n].sum(0), rtol=1e-5)


@pytest.mark.parametrize("chunk", [100, 4000, 4001])
def test_large_reads_come_in_parts(make_file: MakeFile, chunk: int) -> None:
    array, target = values(1000), numpy.zeros(1000, numpy.float32)
    DiskBuffer(make_file(array), 0, array.nbytes).read_into(target.data.cast("B"), chunk)
    numpy.testing.assert_array_equal(target, array)
