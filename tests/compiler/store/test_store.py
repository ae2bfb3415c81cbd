"""The SQLite file: what goes in comes out or is not there, whatever happens to it."""

from __future__ import annotations

import functools
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ogive.compiler.store.content_keys import Key, make_key
from ogive.compiler.store.database import connect, database_path
from ogive.compiler.store.open_stores import open_stores
from ogive.compiler.store.rows import Kind
from ogive.compiler.store.store import TOUCH_MICROSECONDS, Connect, Store
from ogive.errors import CacheWarning
from tests.raising import raises


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "cache")


@pytest.fixture
def store(folder: str) -> Iterator[Store]:
    made = Store(folder)
    yield made
    made.close()


def key(number: int) -> Key:
    return make_key(b"test", b"%d" % number)


def entry(number: int, size: int = 100) -> tuple[Kind, Key, bytes]:
    return Kind.CODE, key(number), random.Random(number).randbytes(size)


def read(store: Store, number: int) -> bytes | None:
    return store.read(Kind.CODE, [key(number)]).get(key(number))


def test_what_was_written_is_read_by_another_store(store: Store, folder: str) -> None:
    store.write([entry(1), entry(2)])
    other = Store(folder)
    found = other.read(Kind.CODE, [key(1), key(2), key(3)])
    other.close()
    assert found == {key(1): entry(1)[2], key(2): entry(2)[2]}


def test_kinds_are_apart(store: Store) -> None:
    store.write([entry(1)])
    assert store.read(Kind.GRAPH, [key(1)]) == {}


def test_writing_again_replaces(store: Store) -> None:
    store.write([entry(1)])
    store.write([(Kind.CODE, key(1), b"new")])
    assert read(store, 1) == b"new"


def test_more_keys_than_a_statement_takes_are_found(store: Store) -> None:
    store.write([entry(number, 1) for number in range(1203)])
    keys = [key(number) for number in range(1203)]
    assert len(store.read(Kind.CODE, keys)) == 1203


def test_an_equal_address_with_another_check_is_not_believed(store: Store) -> None:
    store.write([entry(1)])
    forged = Key(key(1).address, key(2).check)
    assert store.read(Kind.CODE, [forged]) == {}


def test_the_folder_is_made_for_its_owner_alone(store: Store, folder: str) -> None:
    store.write([entry(1)])
    assert os.stat(folder).st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_folder_open_to_others_is_refused_with_one_warning(folder: str, mode: int) -> None:
    os.mkdir(folder)
    os.chmod(folder, mode)
    refused = Store(folder)
    with pytest.warns(CacheWarning, match="chmod 700") as caught:
        refused.write([entry(1)])
        refused.write([entry(2)])
        assert read(refused, 1) is None
    assert len(caught) == 1
    assert os.listdir(folder) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_a_folder_of_another_user_is_refused_with_one_warning(folder: str) -> None:
    os.mkdir(folder, 0o700)
    os.chown(folder, 12345, -1)
    with pytest.warns(CacheWarning, match="belongs to user 12345") as caught:
        Store(folder).write([entry(1)])
    assert len(caught) == 1
    assert os.listdir(folder) == []


def test_a_file_in_place_of_the_folder_is_refused(folder: str) -> None:
    Path(folder).write_text("mine")
    with pytest.warns(CacheWarning, match="not a folder"):
        Store(folder).write([entry(1)])
    assert Path(folder).read_text() == "mine"


def test_a_warning_names_the_users_line(folder: str) -> None:
    os.mkdir(folder)
    os.chmod(folder, 0o755)
    with pytest.warns(CacheWarning) as caught:
        Store(folder).write([entry(1)])
    assert caught[0].filename == __file__


FOREIGN = {
    "text": b"this is no database, it is a letter\n" * 100,
    "zeros": bytes(8192),
    "short": b"SQLite format 3\0",
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_a_file_that_is_no_database_is_set_aside_with_one_warning(
    folder: str, content: bytes
) -> None:
    os.mkdir(folder, 0o700)
    path = database_path(folder)
    Path(path).write_bytes(content)
    store = Store(folder)
    with pytest.warns(CacheWarning, match="was damaged") as caught:
        store.write([entry(1)])
    assert len(caught) == 1
    assert read(store, 1) == entry(1)[2]
    store.close()
    assert Path(f"{path}.damaged-0").read_bytes() == content


def test_somebody_elses_database_is_set_aside_unchanged(folder: str) -> None:
    os.mkdir(folder, 0o700)
    path = database_path(folder)
    theirs = sqlite3.connect(path)
    theirs.execute("CREATE TABLE entry (recipe TEXT)")
    theirs.execute("INSERT INTO entry VALUES ('soup')")
    theirs.commit()
    theirs.close()
    before = Path(path).read_bytes()
    store = Store(folder)
    with pytest.warns(CacheWarning, match="not a cache of this version"):
        store.write([entry(1)])
    assert read(store, 1) == entry(1)[2]
    store.close()
    assert Path(f"{path}.damaged-0").read_bytes() == before


def test_a_folder_in_place_of_the_file_is_set_aside(folder: str) -> None:
    os.makedirs(database_path(folder), 0o700)
    os.chmod(folder, 0o700)
    store = Store(folder)
    with pytest.warns(CacheWarning):
        store.write([entry(1)])
    assert read(store, 1) == entry(1)[2]
    store.close()


def test_only_the_last_damaged_file_is_kept(folder: str) -> None:
    os.mkdir(folder, 0o700)
    for _ in range(3):
        Path(database_path(folder)).write_bytes(b"nonsense" * 1000)
        store = Store(folder)
        with warnings.catch_warnings(record=True):
            store.write([entry(1)])
        store.close()
    assert len([name for name in os.listdir(folder) if "damaged" in name]) == 1


@pytest.mark.parametrize("seed", range(12))
def test_flipped_bytes_are_never_believed(folder: str, seed: int) -> None:
    store = Store(folder)
    store.write([entry(number, 3000) for number in range(40)])
    store.close()
    path = database_path(folder)
    generator = random.Random(seed)
    data = bytearray(Path(path).read_bytes())
    for _ in range(generator.choice((1, 8, 200))):
        data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
    Path(path).write_bytes(data)
    damaged = Store(folder)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        for number in range(40):
            assert read(damaged, number) in (None, entry(number, 3000)[2])
        damaged.write([entry(50)])
        assert read(damaged, 50) in (None, entry(50)[2])
    damaged.close()


@pytest.mark.parametrize("part", [0, 0.1, 0.5, 0.99])
def test_a_truncated_file_is_survived(folder: str, part: float) -> None:
    store = Store(folder)
    store.write([entry(number, 3000) for number in range(40)])
    store.close()
    path = database_path(folder)
    os.truncate(path, int(os.path.getsize(path) * part))
    cut = Store(folder)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        for number in range(40):
            assert read(cut, number) in (None, entry(number, 3000)[2])
        cut.write([entry(1)])
    cut.close()
    again = Store(folder)
    assert read(again, 1) in (None, entry(1)[2])
    again.close()


def test_a_payload_changed_behind_our_back_is_not_there(store: Store, folder: str) -> None:
    store.write([entry(1), entry(2)])
    store.close()
    connection = sqlite3.connect(database_path(folder))
    connection.execute("UPDATE entry SET payload = 'text' WHERE address = ?", (key(1).address,))
    connection.execute("UPDATE entry SET digest = 7 WHERE address = ?", (key(2).address,))
    connection.commit()
    connection.close()
    assert read(store, 1) is None and read(store, 2) is None


def test_a_locked_file_is_a_miss_and_writes_wait(folder: str) -> None:
    store = Store(folder, busy_seconds=0.05)
    store.write([entry(1)])
    other = sqlite3.connect(database_path(folder), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.write([entry(2)])
        assert read(store, 1) == entry(1)[2]
        assert read(store, 2) is None
        other.execute("ROLLBACK")
        other.close()
        store.flush()
    assert read(store, 2) == entry(2)[2]
    store.close()


class Disturbed(sqlite3.Connection):
    """A connection that does something after each batch of rows."""

    disturb: Callable[[], None] | None = None

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        cursor = super().executemany(*arguments)
        if self.disturb is not None:
            self.disturb()
        return cursor


def disturbed(made: list[Disturbed], kind: type[Disturbed] = Disturbed) -> Connect:
    """Opens files as usual; the connections are in `made`, the newest last."""

    def opening(path: str, writable: bool, busy_seconds: float) -> sqlite3.Connection:
        connection = connect(path, writable, busy_seconds, kind)
        assert isinstance(connection, Disturbed)
        made.append(connection)
        return connection

    return opening


@pytest.mark.parametrize(
    ("code", "what"),
    [(13, "database or disk is full"), (10, "disk I/O error"), (8, "readonly database")],
)
def test_a_file_that_cannot_be_written_is_still_read(
    folder: str, code: int, what: str
) -> None:
    made: list[Disturbed] = []
    store = Store(folder, connect=disturbed(made))
    store.write([entry(1)])

    def fail() -> None:
        error = sqlite3.OperationalError(what)
        error.sqlite_errorcode = code
        raise error

    made[0].disturb = fail
    with pytest.warns(CacheWarning, match=what) as caught:
        store.write([entry(2)])
        store.write([entry(3)])
        assert read(store, 1) == entry(1)[2]
    assert len(caught) == 1
    store.close()


FULL = """
import resource, sys, warnings
from ogive.compiler.store.store import Store
from ogive.compiler.store.rows import Kind
from ogive.compiler.store.content_keys import make_key
warnings.simplefilter("always")
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
store = Store(sys.argv[1])
for number in range(60):
    store.write([(Kind.CODE, make_key(b"%d" % number), bytes(10_000))])
found = [n for n in range(60) if store.read(Kind.CODE, [make_key(b"%d" % n)])]
store.close()
print(len(found))
"""


def test_a_full_disk_is_one_warning(folder: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, folder], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) >= 1
    assert done.stderr.count("CacheWarning") == 1
    store = Store(folder)
    assert store.read(Kind.CODE, [make_key(b"0")])
    store.close()


def test_a_folder_that_cannot_be_written_to_is_read(store: Store, folder: str) -> None:
    store.write([entry(1)])
    store.close()
    before = Path(database_path(folder)).read_bytes()
    reader = Store(folder, is_writable=lambda folder: False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(reader, 1) == entry(1)[2]
        reader.write([entry(2)])
        assert read(reader, 2) is None
    reader.close()
    assert Path(database_path(folder)).read_bytes() == before


class WithoutSharedMemory(Disturbed):
    """SQLite where a file system cannot share memory between processes."""

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        if sql.startswith("PRAGMA journal_mode"):
            sql = "SELECT 'delete'"
        return super().execute(sql, *arguments)


def test_a_file_system_without_shared_memory_is_one_warning(folder: str) -> None:
    os.mkdir(folder, 0o700)
    store = Store(folder, connect=disturbed([], WithoutSharedMemory))
    with pytest.warns(CacheWarning, match="cannot share a database") as caught:
        store.write([entry(1)])
        assert read(store, 1) is None
    assert len(caught) == 1


def test_deleting_the_folder_while_it_is_in_use_is_survived(store: Store, folder: str) -> None:
    store.write([entry(1)])
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    os.rmdir(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(store, 1) in (None, entry(1)[2])
        store.write([entry(2)])
        store.close()
        store.write([entry(3)])
    assert read(store, 3) == entry(3)[2]


def test_the_size_is_bounded_and_the_least_recently_used_go(store: Store, folder: str) -> None:
    bound = 400_000
    store.write([entry(0, 5000)], bound)
    for number in range(1, 200):
        store.write([entry(number, 5000)], bound)
        assert read(store, 0) is not None
    store.close()
    assert os.path.getsize(database_path(folder)) <= bound * 1.1
    assert read(store, 199) is not None
    assert read(store, 1) is None and read(store, 100) is None


def test_a_lower_bound_makes_the_file_smaller(store: Store, folder: str) -> None:
    store.write([entry(number, 5000) for number in range(100)])
    store.write([entry(200)], 100_000)
    store.close()
    assert os.path.getsize(database_path(folder)) <= 120_000


def test_an_entry_too_large_for_the_bound_pushes_nothing_out(store: Store) -> None:
    store.write([entry(1)], 200_000)
    store.write([entry(2, 190_000)], 200_000)
    assert read(store, 1) is not None and read(store, 2) is None


def test_a_hit_writes_nothing_unless_the_last_use_is_old(folder: str) -> None:
    now = 10**15
    store = Store(folder, now=lambda: now)

    def used() -> int:
        connection = sqlite3.connect(database_path(folder))
        value: int = connection.execute("SELECT used FROM entry").fetchone()[0]
        connection.close()
        return value

    store.write([entry(1)])
    first = now
    now += TOUCH_MICROSECONDS // 2
    read(store, 1)
    store.close()
    assert used() == first
    now += TOUCH_MICROSECONDS
    read(store, 1)
    assert used() == first
    store.close()
    assert used() == now


def test_threads_share_a_store(store: Store) -> None:
    wrong: list[int] = []

    def work(start: int) -> None:
        for number in range(start, start + 30):
            store.write([entry(number)])
            if read(store, number) != entry(number)[2]:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(100 * index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def open_files(folder: str) -> list[str]:
    """The files of a folder that this process has open, where the system tells."""
    numbers = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    links = [f"/proc/self/fd/{number}" for number in numbers]
    return [name for name in map(os.path.realpath, links) if name.startswith(folder)]


def in_child(work: Callable[[], bool]) -> bool:
    """What `work` says in a forked child."""
    child = os.fork()
    if child == 0:
        good = False
        try:
            good = work()
        finally:
            os._exit(0 if good else 1)
    return os.waitpid(child, 0)[1] == 0


def test_a_forked_child_inherits_no_open_file_and_opens_its_own(folder: str) -> None:
    store = open_stores.store_in(folder)
    store.write([entry(1)])

    def work() -> bool:
        inherited = open_files(folder)
        found = read(store, 1)
        store.write([entry(2)])
        store.close()
        return inherited == [] and found == entry(1)[2]

    assert in_child(work)
    assert read(store, 2) == entry(2)[2]
    store.write([entry(3)])
    assert read(store, 3) == entry(3)[2]
    store.close()


def write_and_read(store: Store, number: int) -> bool:
    store.write([entry(number)])
    return read(store, number) == entry(number)[2]


def test_a_fork_waits_for_a_thread_that_writes(folder: str) -> None:
    store = open_stores.store_in(folder)
    ended = threading.Event()

    def work() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            store.write([entry(number % 7, 2000)])

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for number in range(10, 20):
            assert in_child(functools.partial(write_and_read, store, number))
    finally:
        ended.set()
        thread.join()
    assert all(read(store, number) == entry(number)[2] for number in range(10, 20))
    store.close()


def test_a_fork_out_of_a_signal_handler_in_the_midst_of_a_write_loses_nothing(folder: str) -> None:
    made: list[Disturbed] = []
    store = Store(folder, connect=disturbed(made))
    store.write([entry(1)])

    def fork() -> None:
        made[-1].disturb = None
        store.hold()  # as is done before a fork
        store.let_go()

    made[-1].disturb = fork
    store.write([entry(2)])
    assert len(made) == 2
    assert [read(store, number) for number in (1, 2)] == [entry(1)[2], entry(2)[2]]
    store.close()


def test_closing_leaves_the_log_of_another_file_of_that_name_alone(folder: str) -> None:
    old, new = Store(folder), Store(folder)
    old.write([entry(1)])
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    new.write([entry(2)])
    before = sorted(os.listdir(folder))
    assert len(before) == 3  # the file, its log and the log's index
    old.close()
    assert sorted(os.listdir(folder)) == before
    new.write([entry(3)])
    assert [read(new, number) for number in (1, 2, 3)] == [None, entry(2)[2], entry(3)[2]]
    new.close()


def test_a_closed_store_leaves_one_file_and_none_open(store: Store, folder: str) -> None:
    store.write([entry(1)])
    assert read(store, 1) is not None
    store.close()
    assert os.listdir(folder) == [os.path.basename(database_path(folder))]
    assert open_files(folder) == []


def test_info_counts_and_clear_deletes(store: Store, folder: str) -> None:
    assert store.info().entries == {}
    assert not os.path.exists(folder)
    store.write([entry(1, 50_000), entry(2, 50_000), (Kind.NOTE, key(3), b"x")])
    info = store.info()
    assert info.entries == {Kind.CODE: 2, Kind.NOTE: 1}
    assert info.nbytes > 100_000
    store.clear()
    assert store.info().entries == {}
    assert read(store, 1) is None
    store.close()
    assert os.path.getsize(database_path(folder)) < 60_000


WRITER = """
import random, sys
from ogive.compiler.store.store import Store
from ogive.compiler.store.rows import Kind
from ogive.compiler.store.content_keys import make_key
store = Store(sys.argv[1])
print("ready", flush=True)
number = int(sys.argv[2])
while True:
    number += 1
    payload = random.Random(number % 500).randbytes(2000)
    key = make_key(b"test", b"%d" % (number % 500))
    store.write([(Kind.CODE, key, payload)], 600_000)
    found = store.read(Kind.CODE, [key])
    assert found.get(key, payload) == payload
"""


def kill_writers(folder: str, kills: int) -> None:
    """Kill one of four processes that write to a store, again and again, at random moments."""

    def start(number: int) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", WRITER, folder, str(number)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    generator = random.Random(kills)
    processes = [start(100 * index) for index in range(4)]
    for number in range(kills):
        time.sleep(generator.uniform(0, 0.05))
        victim = processes.pop(generator.randrange(len(processes)))
        assert victim.poll() is None, victim.stderr and victim.stderr.read()
        victim.kill()
        victim.communicate()
        processes.append(start(37 * number))
    for process in processes:
        assert process.poll() is None, process.stderr and process.stderr.read()
        process.kill()
        process.communicate()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store = Store(folder)
        for number in range(500):
            payload = random.Random(number).randbytes(2000)
            found = store.read(Kind.CODE, [key(number)])
            assert found.get(key(number), payload) == payload
        store.write([entry(1000)])
        assert read(store, 1000) == entry(1000)[2]
        store.close()
    connection = sqlite3.connect(database_path(folder))
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    assert not [name for name in os.listdir(folder) if "damaged" in name]


def test_processes_that_are_killed_leave_a_good_file(folder: str) -> None:
    kill_writers(folder, 6)


@pytest.mark.soak
def test_processes_that_are_killed_200_times_leave_a_good_file(folder: str) -> None:
    kill_writers(folder, 200)


@pytest.mark.parametrize("error", [KeyboardInterrupt("now"), TimeoutError("now")])
def test_an_exception_during_a_write_is_rolled_back_and_the_cache_stays(
    folder: str, error: BaseException
) -> None:
    made: list[Disturbed] = []
    store = Store(folder, connect=disturbed(made))
    store.write([entry(1)])

    def interrupt() -> None:
        raise error

    made[0].disturb = interrupt
    with raises(type(error), match="now"):
        store.write([entry(2)])
    made[0].disturb = None
    assert made[0].in_transaction
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.write([entry(3)])
    assert [read(store, number) for number in (1, 2, 3)] == [entry(n)[2] for n in (1, 2, 3)]
    assert not [name for name in os.listdir(folder) if "damaged" in name]
