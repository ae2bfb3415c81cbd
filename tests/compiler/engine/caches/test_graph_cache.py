"""What is compiled once is found again: in memory, on disk, and only where it is the same."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import ogive
from ogive import Config, Tensor, counters
from ogive.compiler.engine.caches.general_graphs import general_graphs
from ogive.compiler.engine.caches.graph_cache import graph_cache, key_on_disk
from ogive.compiler.engine.caches.kernel_cache import kernel_cache
from ogive.compiler.engine.caches.kernels import Kernel, known_codes
from ogive.compiler.engine.steps.compiled_graph import Launch
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.calls import expanders
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.symbolic.variable import Variable
from ogive.compiler.passes.capture.normalize import normalize
from ogive.compiler.store.code_records import pack_code
from ogive.compiler.store.compiler_version import CALLED, Sources
from ogive.compiler.store.content_keys import Key, encode_graph, make_key
from ogive.compiler.store.database import database_path
from ogive.compiler.store.disk_cache import disk_caches
from ogive.compiler.store.open_stores import open_stores
from ogive.compiler.store.rows import Kind
from ogive.compiler.store.store import Store
from ogive.config import current_config
from ogive.errors import ConfigWarning, LoadError
from tests.compiler.engine.counting import Count
from tests.compiler.store.sources import SameSources
from tests.raising import raises
from tests.test_imports import ALLOWED, is_package, part_of

SAME = SameSources(b"the same for all keys")
NAMES = (
    "schedules_created",
    "schedule_hits",
    "schedule_disk_hits",
    "kernels_compiled",
    "kernel_hits",
    "kernel_disk_hits",
)


def forget() -> None:
    """What a new process does not know."""
    graph_cache.clear()
    kernel_cache.clear()
    general_graphs.clear()


@pytest.fixture(autouse=True)
def folder(own_cache: str) -> str:
    forget()
    return own_cache


def program(shape: tuple[int, ...] = (5, 7), dtype: str = "float32", seed: int = 0) -> Tensor:
    generator = numpy.random.default_rng(seed)
    x = Tensor((generator.random(shape) * 9 + 1).astype(dtype))
    y = Tensor((generator.random(shape) * 9 + 1).astype(dtype))
    return ((x * y + x).sum(-1, keepdim=True) + y).amax(0)


def values(seed: int = 0, dtype: str = "float32") -> numpy.ndarray:
    return program(seed=seed, dtype=dtype).numpy()


def test_counters_have_the_promised_names() -> None:
    assert set(counters()) >= {*NAMES, "bytes_allocated", "bytes_reused"}


def test_other_data_hits_in_memory() -> None:
    values()
    with Count() as count:
        values(seed=1)
    assert count == {"schedule_hits": 1}


def test_other_data_hits_on_disk() -> None:
    expected = values(seed=1)
    kernels = len(program().prepare().kernels)
    forget()
    with Count() as count:
        found = values(seed=1)
    assert count == {"schedule_disk_hits": 1, "kernel_disk_hits": kernels}
    assert numpy.array_equal(found, expected)


def test_a_graph_of_complex_numbers_is_found_on_disk() -> None:
    x = numpy.arange(4) + 1j
    for square in (Tensor(x) * Tensor(x), Tensor(x).abs()):
        square.realize()
    forget()
    with Count() as count:
        found = (Tensor(x) * Tensor(x)).numpy(), Tensor(x).abs().numpy()
    assert count["schedules_created"] == 0 and count["schedule_disk_hits"] == 2
    numpy.testing.assert_allclose(found[0], x * x)
    numpy.testing.assert_allclose(found[1], abs(x))


@pytest.mark.parametrize("memory", [True, False])
@pytest.mark.parametrize(
    "other",
    [
        lambda: program((5, 8)).realize(),
        lambda: program(dtype="float64").realize(),
        lambda: program().realize(config=Config(vectorize=False)),
        lambda: (program() + 1).realize(),
    ],
    ids=["shape", "dtype", "configuration", "graph"],
)
def test_what_differs_misses(other: Callable[[], Tensor], memory: bool) -> None:
    values()
    if not memory:
        forget()
    with Count() as count:
        other()
    assert count["schedules_created"] == 1
    assert count["schedule_hits"] == count["schedule_disk_hits"] == 0


@pytest.mark.parametrize("memory", [True, False])
def test_another_value_of_a_variable_hits(memory: bool) -> None:
    n = Variable("n", 1, 16)
    x = Tensor(numpy.arange(32, dtype=numpy.float32).reshape(16, 2))
    expected = (numpy.arange(32).reshape(16, 2) * 2 + 1).astype(numpy.float32)

    def run(value: int) -> numpy.ndarray:
        bounds: Any = ((0, n.bind(value)), (0, 2))
        return (x.shrink(bounds) * 2 + 1).numpy()

    assert numpy.array_equal(run(3), expected[:3])
    if not memory:
        forget()
    with Count() as count:
        assert numpy.array_equal(run(11), expected[:11])
    assert count["schedules_created"] == count["kernels_compiled"] == 0
    assert count["schedule_hits" if memory else "schedule_disk_hits"] == 1


def test_settings_that_do_not_change_code_hit() -> None:
    values()
    with Count() as count:
        program().realize(config=Config(threads=1, kernel_cache_size=7, disk_cache_bytes=1 << 20))
    assert count == {"schedule_hits": 1}


def test_equal_layers_compile_once() -> None:
    def network(layers: int) -> Tensor:
        x = Tensor(numpy.ones((8, 8), numpy.float32))
        w = [Tensor(numpy.full((8, 8), 0.1, numpy.float32)) for _ in range(layers)]
        for weight in w:
            x = ((x @ weight).contiguous().relu() + 1).contiguous()
        return x

    with Count() as one:
        network(2).realize()
    forget()
    open_stores.store_in(os.environ["OGIVE_CACHE_DIR"]).clear()
    with Count() as twelve:
        network(12).realize()
    assert twelve["kernels_compiled"] == one["kernels_compiled"]


def test_a_kernel_of_another_graph_comes_from_the_disk() -> None:
    x = Tensor(numpy.ones((4, 4), numpy.float32))
    (x * 3).contiguous().realize()
    forget()
    with Count() as count:
        ((x * 3).contiguous() @ x).realize()
    assert count["schedules_created"] == 1
    assert count["kernel_disk_hits"] >= 1


def test_regions_that_become_equal_share_their_code() -> None:
    a = Tensor(numpy.ones((6, 8), numpy.float32))
    b = Tensor(numpy.ones((8, 6), numpy.float32))
    one, two = (a * 2).prepare(), (b * 2).prepare()
    if one.kernels[0].ir == two.kernels[0].ir:
        assert one.kernels[0].code is two.kernels[0].code


def test_equal_code_is_assembled_once() -> None:
    a = Tensor(numpy.ones(48, numpy.float32))
    b = Tensor(numpy.ones((6, 8), numpy.float32))
    (a * 2).realize()
    with Count() as count:
        (b.reshape(48) * 2).reshape(8, 6).contiguous().realize()
    assert count["kernels_compiled"] + count["kernel_hits"] >= 1


@pytest.mark.parametrize("setting", ["schedule_cache", "disk_cache"])
def test_a_cache_that_is_off_writes_nothing_and_changes_nothing(setting: str, folder: str) -> None:
    off = Config().with_changes({setting: False})
    with Count() as count:
        plain = program().realize(config=off).numpy()
        program().realize(config=off)
    assert count["schedule_disk_hits"] == count["kernel_disk_hits"] == 0
    assert count["schedules_created"] == (2 if setting == "schedule_cache" else 1)
    assert not os.path.exists(folder)
    cached = values()
    forget()
    assert numpy.array_equal(plain, cached)
    assert numpy.array_equal(plain, values())


def test_kernels_compiled_for_memory_are_kept_once_the_disk_is_on() -> None:
    program().realize(config=Config(disk_cache=False))
    graph_cache.clear()
    values()
    forget()
    with Count() as count:
        values()
    assert count["schedules_created"] == count["kernels_compiled"] == 0


def test_a_disk_of_no_bytes_is_off(folder: str) -> None:
    program().realize(config=Config(disk_cache_bytes=0))
    assert not os.path.exists(folder)


def test_a_negative_bound_is_refused() -> None:
    with raises(ogive.errors.ConfigError, match="disk_cache_bytes"):
        Config(disk_cache_bytes=-1)


def test_forged_addresses_still_answer_right() -> None:
    def forged(*parts: bytes) -> Key:
        return make_key(*parts)._replace(address=b"the same for all")

    x = Tensor(numpy.arange(6, dtype=numpy.float32))
    with disk_caches.seen_by(SAME, forged):
        for _ in range(3):
            assert (x + 1).tolist() == [1, 2, 3, 4, 5, 6]
            assert (x * 2).tolist() == [0, 2, 4, 6, 8, 10]
            assert (x - 3).tolist() == [-3, -2, -1, 0, 1, 2]
            forget()


def test_short_addresses_still_answer_right() -> None:
    def short(*parts: bytes) -> Key:
        key = make_key(*parts)
        return key._replace(address=bytes(15) + bytes([key.address[0] & 1]))

    x = Tensor(numpy.arange(4, dtype=numpy.float32))
    with disk_caches.seen_by(SAME, short):
        for _ in range(2):
            for number in range(12):
                assert (x * number + number).tolist() == [number * (i + 1) for i in range(4)]
            forget()


def test_a_graph_with_a_parameter_that_does_not_matter_is_found_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "zeros.bin"
    path.write_bytes(bytes(24))
    file = Tensor.from_file(path, (6,), "int32")
    x = Tensor(numpy.arange(6, dtype=numpy.int32))
    for nothing in (Tensor([5] * 6), file):
        assert (nothing.cast("int32") * 0 + x + 1).tolist() == [1, 2, 3, 4, 5, 6]
        forget()
        with Count() as count:
            assert (nothing.cast("int32") * 0 + x + 1).tolist() == [1, 2, 3, 4, 5, 6]
        assert count == {"schedule_disk_hits": 1, "kernel_disk_hits": 1}


def test_a_kernel_record_that_does_not_fit_is_compiled_again() -> None:
    def forged(*parts: bytes) -> Key:
        return make_key(*parts) if parts[0] == b"code" else make_key(parts[0])

    x = Tensor(numpy.arange(6, dtype=numpy.float32))
    y = Tensor(numpy.arange(8, dtype=numpy.float32))
    with disk_caches.seen_by(SAME, forged):
        (x + 1).realize()
        forget()
        # All graphs now have one key: those with other parameters must not take it for theirs.
        with Count() as count:
            (y.reshape(2, 4).sum(1) + x[:2]).realize()
    assert count["schedule_disk_hits"] == 0


def test_a_kernel_shows_what_it_is() -> None:
    x, n = Tensor(numpy.ones((64, 300), numpy.float32)), Variable("n", 1, 64)
    (step,) = (x[: n.bind(9)] * 2).prepare().steps
    assert isinstance(step, Launch)
    kernel = step.kernel
    assert kernel.name in kernel.ir and kernel.name.startswith("elementwise_parallel")
    assert kernel.variables == ("n",)
    assert sorted(kernel.slots) == [0, 1]
    assert isinstance(kernel.tiles, UOp) and kernel.tiles is step.tiles
    assert kernel.axes[0][0] == "parallel"


@pytest.mark.parametrize("slots", [(), (0, 2), (-1, 0)])
def test_slots_that_a_call_does_not_have_are_an_error_that_names_the_kernel(
    slots: tuple[int, ...],
) -> None:
    (kernel,) = (Tensor(numpy.ones(4, numpy.float32)) + 1).prepare().kernels
    assert kernel.arguments((7, 5)) == tuple([(7, 5)[slot] for slot in kernel.slots])
    wrong = Kernel(kernel.record._replace(slots=slots), kernel.code, {})
    with raises(LoadError, match=rf"kernel {kernel.name} .* call has 2"):
        wrong.arguments((7, 5))


def test_eviction_from_memory_harms_no_plan() -> None:
    x = Tensor(numpy.arange(8, dtype=numpy.float32))
    small = Config(kernel_cache_size=2, disk_cache=False)
    plans = []
    for number in range(6):
        y = x * number + 1
        plans.append((number, y, y.prepare(config=small)))
    assert len(kernel_cache._kernels) == 2
    graph_cache.clear()
    for number, y, plan in plans:
        plan.execute()
        assert y.tolist() == [i * number + 1 for i in range(8)]


def test_kernels_leave_memory_first_in_first_out() -> None:
    x = Tensor(numpy.arange(8, dtype=numpy.float32))
    small = Config(kernel_cache_size=2, disk_cache=False, schedule_cache=False)
    (x + 1).realize(config=small)
    (x * 2).realize(config=small)
    (x + 1).realize(config=small)  # used again, which does not make it younger
    (x - 3).realize(config=small)
    known_codes.clear()
    with Count() as count:
        (x * 2).realize(config=small)
    assert count["kernels_compiled"] == 0
    with Count() as count:
        (x + 1).realize(config=small)
    assert count["kernels_compiled"] == 1


@pytest.mark.parametrize("size", [0, -1])
def test_a_senseless_number_of_kernels_means_4096_and_is_warned_of(size: int) -> None:
    with pytest.warns(ConfigWarning, match=f"kernel_cache_size={size} .* 4096 is used") as caught:
        senseless = Config(kernel_cache_size=size)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert senseless.kernel_cache_size == Config().kernel_cache_size == 4096


def test_graphs_in_memory_are_bounded() -> None:
    x = Tensor(numpy.arange(3, dtype=numpy.float32))
    with graph_cache.bounded_to(3):
        for number in range(8):
            x.clamp(number).realize(config=Config(disk_cache=False, generalize=False))
    assert len(graph_cache._graphs) == 3


def test_the_disk_is_bounded_by_the_setting(folder: str) -> None:
    x = Tensor(numpy.arange(3, dtype=numpy.float32))
    config = Config(disk_cache_bytes=120_000)
    for number in range(30):
        (x * number).sum().realize(config=config)
    open_stores.store_in(folder).close()
    assert os.path.getsize(database_path(folder)) <= 140_000
    assert (x * 29).sum().item() == 87


def damage(folder: str, statement: str) -> None:
    open_stores.store_in(folder).close()
    connection = sqlite3.connect(database_path(folder))
    connection.execute(statement)
    connection.commit()
    connection.close()
    forget()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry SET payload = zeroblob(length(payload))",
        "UPDATE entry SET payload = substr(payload, 1, length(payload) / 2)",
        "UPDATE entry SET payload = payload || x'00'",
        "UPDATE entry SET payload = '' WHERE kind = 3",
        "UPDATE entry SET digest = randomblob(16)",
        'UPDATE entry SET "check" = randomblob(16)',
        "DELETE FROM entry WHERE kind = 3",
        "DELETE FROM entry WHERE kind = 1",
    ],
)
def test_damaged_rows_are_compiled_again(folder: str, statement: str) -> None:
    expected = values()
    damage(folder, statement)
    with Count() as count:
        assert numpy.array_equal(values(), expected)
    assert count["schedules_created"] == 1
    forget()
    with Count() as count:
        assert numpy.array_equal(values(), expected)
    assert count["schedules_created"] == count["kernels_compiled"] == 0


def test_code_that_does_not_link_is_compiled_again(folder: str) -> None:
    def other_kernels(label: bytes, *parts: bytes) -> Key:
        return make_key(label, *parts) if label == b"graph" else make_key(b"new", label, *parts)

    with disk_caches.seen_by(SAME):
        expected = values()
    bad = pack_code("", b"no object")
    codes = [kernel.record.code for kernel in kernel_cache._kernels.values()]
    open_stores.store_in(folder).write([(Kind.CODE, code, bad) for code in codes])
    forget()
    with disk_caches.seen_by(SAME, other_kernels), Count() as count:
        assert numpy.array_equal(values(), expected)
    assert count["schedules_created"] == 1


def test_sources_that_changed_are_neither_read_for_nor_written(folder: str) -> None:
    with disk_caches.seen_by(SameSources(None)), Count() as count:
        values()
        forget()
        values()
    assert count["schedules_created"] == 2


class EditedLibrary(SameSources):
    """Sources of the compiler that stay, and of library functions with some digest."""

    def __init__(self, library: bytes | None) -> None:
        super().__init__(b"the same for all keys")
        self.library = library

    def within(self, folders: tuple[str, ...]) -> Sources:
        return LibrarySources(self.library)


class LibrarySources(SameSources):
    def digest(self, store: Store, signature: bytes) -> bytes | None:
        return signature


def test_a_graph_with_calls_is_found_as_long_as_the_library_is_the_same(folder: str) -> None:
    def key(graph: Tensor, library: bytes | None) -> Key | None:
        with disk_caches.seen_by(EditedLibrary(library)):
            return key_on_disk(normalize((graph.node,)).sink, current_config())

    x = Tensor([1.0, 2.0, 4.0]).realize()
    calling, plain = x.softmax(-1), x * 2 + 1
    assert calling.node.op is Op.CALL
    assert key(calling, b"one") == key(calling, b"one") != key(calling, b"another")
    assert key(calling, None) is None
    assert key(plain, b"one") == key(plain, None) is not None


def test_calls_lead_only_to_folders_whose_sources_are_in_the_key() -> None:
    outlined = [each for each in expanders.values() if hasattr(each, "args")]
    modules = [expand.args[0].__module__ for expand in outlined]
    assert len(modules) > 20
    assert {name.split(".")[1] for name in modules} <= set(CALLED)


def test_an_edit_while_the_process_runs_stops_writing(folder: str) -> None:
    sources = SameSources(b"before")
    with disk_caches.seen_by(sources):
        values()
        sources.told = b"after"
        program((3, 3)).realize()
        forget()
        with Count() as count:
            values()
            program((3, 3)).realize()
    assert count["schedule_disk_hits"] == count["schedules_created"] == 1


def test_the_signature_of_the_sources_sees_every_edit(tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "compiler/passes").mkdir(parents=True)
    (package / "tensor").mkdir()
    for name in ("a.py", "compiler/passes/b.py", "tensor/c.py"):
        (package / name).write_text("x = 1\n")
    sources = Sources(str(package), loaded_at=1 << 62)
    first = sources.signature(), sources.content_digest()
    (package / "tensor/c.py").write_text("x = 2\n")
    assert (sources.signature(), sources.content_digest()) == first
    status = os.stat(package / "compiler/passes/b.py")
    (package / "compiler/passes/b.py").write_text("x = 2\n")
    os.utime(package / "compiler/passes/b.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    second = sources.signature(), sources.content_digest()
    assert second[0] != first[0] and second[1] != first[1]
    (package / "new.py").write_text("")
    assert sources.signature() != second[0]
    assert Sources(str(package), loaded_at=0).signature() is None


def test_nothing_that_the_engine_uses_is_left_out_of_the_digest() -> None:
    used, new = set[str](), {"engine"}
    while new:
        used |= new
        new = {part_of(name) for part in new for name in ALLOWED[part]} - used
    assert "passes" in used
    folders = {part.partition(".")[0] for part in used}
    assert not [name for name in folders if is_package(name)]


def test_equal_structure_has_equal_text_and_else_not() -> None:
    def text(root: UOp) -> bytes:
        return encode_graph(root).text

    def const(value: float) -> UOp:
        return UOp.const(dtypes.float64, value)

    x = UOp(Op.PARAM, dtypes.float64, (), (0, 4))
    y = UOp(Op.PARAM, dtypes.float64, (), (1, 4))
    different = [
        x,
        y,
        UOp(Op.ADD, dtypes.float64, (x, y)),
        UOp(Op.ADD, dtypes.float64, (y, x)),
        UOp(Op.ADD, dtypes.float64, (x, x)),
        UOp(Op.ADD, dtypes.float64, (x, const(0.0))),
        UOp(Op.ADD, dtypes.float64, (x, const(-0.0))),
        UOp(Op.ADD, dtypes.float64, (x, const(float("nan")))),
        UOp(Op.ADD, dtypes.float64, (x, const(-float("nan")))),
        UOp(Op.PAD, dtypes.float64, (x,), (((1, 1),), float("nan"))),
        UOp(Op.PAD, dtypes.float64, (x,), (((1, 1),), -float("nan"))),
        UOp(Op.ADD, dtypes.float64, (x, UOp(Op.ADD, dtypes.float64, (x, y)))),
    ]
    assert len({text(node) for node in different}) == len(different)
    assert text(x.with_tag("mine")) == text(x)


def test_parts_of_a_key_do_not_run_into_each_other() -> None:
    assert make_key(b"ab", b"c") != make_key(b"a", b"bc")
    address, check = make_key(b"a")
    assert address != check
    assert len(address) == len(check) == 16


def test_threads_that_ask_for_the_same_new_graph_schedule_it_once() -> None:
    ready, wrong = threading.Barrier(8), []

    def compute() -> None:
        x = Tensor(numpy.ones(7, numpy.float32))
        ready.wait()
        if (x.sin() * 7531 + x.exp()).cumsum(0).realize().numpy()[0] < 7531 * 0.8:
            wrong.append(x)

    threads = [threading.Thread(target=compute) for _ in range(8)]
    with Count() as changes:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong
    assert changes["schedules_created"] == 1
    assert changes["schedule_hits"] + changes["schedule_disk_hits"] == 7
