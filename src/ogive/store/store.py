"""One SQLite file that outlives the process: checked rows by key, bounded, least recently used out.

Nothing here ever raises because of the file. A row that does not check is not there; a file that is
damaged or not ours is set aside; where the folder cannot be used at all, nothing is kept. The user
hears of each such thing at most once.
"""

from __future__ import annotations

import ctypes
import enum
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from ogive.digest import blake2b
from ogive.errors import CacheWarning, origin_line, user_origin
from ogive.folders import folder_problem
from ogive.named import NamedTuple
from ogive.store.database import (
    NOT_A_DATABASE,
    CannotShare,
    adopt,
    connect,
    database_path,
    file_size,
    generation,
    pragma,
    remove,
    store_files,
    used_bytes,
)
from ogive.store.keys import DIGEST_BYTES, Key

if TYPE_CHECKING:
    import sqlite3

Result = TypeVar("Result")

BUSY_MILLISECONDS = 1000
EXIT_BUSY_MILLISECONDS = 200
ROW_LIMIT = 256 << 20
"""No row is larger; one that says it is, is damaged."""

PENDING_LIMIT = 64 << 20
"""The most bytes kept in memory for a file that is locked at the moment."""

TOUCH_MICROSECONDS = 3600 * 1_000_000
"""A row used more recently than this need not be noted as used just for the note's sake."""

TOUCHES_HELD = 4096


class Kind(enum.IntEnum):
    """What a row holds."""

    GRAPH = 1
    KERNEL = 2
    CODE = 3
    NOTE = 4


Entry = tuple[Kind, Key, bytes]


class _Code(enum.IntEnum):
    """SQLite's primary result codes that we tell apart."""

    ERROR = 1  # no such table or column: somebody else's database
    BUSY = 5
    LOCKED = 6
    READONLY = 8
    IOERR = 10
    CORRUPT = 11
    FULL = 13
    CANTOPEN = 14
    NOTADB = NOT_A_DATABASE


_DAMAGED = {_Code.ERROR, _Code.CORRUPT, _Code.NOTADB}
_PASSING = {_Code.BUSY, _Code.LOCKED}
_MOVED = 1032  # SQLITE_READONLY_DBMOVED: the file was deleted or moved under us

_READ = 'SELECT address, "check", digest, used, payload FROM entry WHERE kind = ? AND address IN '
_WRITE = (
    'INSERT OR REPLACE INTO entry (kind, address, "check", digest, used, payload) '
    "VALUES (?, ?, ?, ?, ?, ?)"
)
_TOUCH = "UPDATE entry SET used = max(used, ?) WHERE kind = ? AND address = ?"


class StoreInfo(NamedTuple):
    """What is in a store; `problem` says why it cannot be used, if so."""

    path: str
    nbytes: int
    entries: dict[Kind, int]
    problem: str | None


class Store:
    """The rows in one folder. All methods may be called from any thread, and after a fork."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._lock = threading.RLock()
        self._forget()

    def _forget(self) -> None:
        self._connection: sqlite3.Connection | None = None
        self._path = ""
        self._inode = 0
        self._off = False
        self._read_only = False
        self._pending: list[Entry] = []
        self._touched: dict[tuple[Kind, bytes], int] = {}
        self._touch_due = False
        self._bound = 1 << 62

    # Reading and writing

    def read(self, kind: Kind, keys: Sequence[Key]) -> dict[Key, bytes]:
        """The payloads that are there for `keys`, each checked against its key and digest."""
        found: dict[Key, bytes] = {}
        if not keys or self._off:
            return found

        def action(connection: sqlite3.Connection) -> None:
            for start in range(0, len(keys), 500):
                some = {key.address: key for key in keys[start : start + 500]}
                places = ", ".join("?" * len(some))
                for row in connection.execute(f"{_READ} ({places})", (kind, *some)):
                    self._take(kind, some, row, found)

        self._attempt(action, None)
        return found

    def _take(
        self, kind: Kind, keys: dict[bytes, Key], row: Sequence[object], found: dict[Key, bytes]
    ) -> None:
        address, check, digest, used, payload = row
        if not isinstance(address, bytes) or not isinstance(payload, bytes):
            return
        key = keys.get(address)
        if key is None or key.check != check or len(payload) > ROW_LIMIT:
            return
        if row_digest(kind, key, payload) != digest:
            return
        found[key] = payload
        now = _now()
        if not isinstance(used, int) or not 0 <= now - used < TOUCH_MICROSECONDS:
            self._touch_due = True
        if len(self._touched) < TOUCHES_HELD:
            self._touched[kind, address] = now

    def write(self, entries: Iterable[Entry], bound: int | None = None) -> None:
        """Keep rows, all of them or none, and no more than about `bound` bytes altogether.

        Where the file is locked for long they wait in memory for the next call or the exit.
        """
        with self._lock:
            if self._off or self._read_only:
                return
            if bound is not None:
                self._bound = bound
            largest = min(ROW_LIMIT, self._bound // 4)
            self._pending += [entry for entry in entries if len(entry[2]) <= largest]
            if self._pending and not self._attempt(self._flush, False):
                self._limit_pending()

    def flush(self) -> None:
        """Write what waits, and which rows have been used."""
        with self._lock:
            if self._connection is None or self._off or self._read_only:
                return
            if self._pending or self._touch_due:
                self._attempt(self._flush, False)

    def _flush(self, connection: sqlite3.Connection) -> bool:
        now = _now()
        rows = [
            (kind, key.address, key.check, row_digest(kind, key, payload), now, payload)
            for kind, key, payload in self._pending
        ]
        touches = [(used, kind, address) for (kind, address), used in self._touched.items()]
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(_TOUCH, touches)
        connection.executemany(_WRITE, rows)
        connection.execute("COMMIT")
        self._pending.clear()
        self._touched.clear()
        self._touch_due = False
        self._evict(connection)
        return True

    def _limit_pending(self) -> None:
        total = 0
        for position in range(len(self._pending) - 1, -1, -1):
            total += len(self._pending[position][2])
            if total > PENDING_LIMIT:
                del self._pending[: position + 1]
                return

    def _evict(self, connection: sqlite3.Connection) -> None:
        """Delete the least recently used rows until the file is well below the bound."""
        used, page = used_bytes(connection), pragma(connection, "page_size")
        if used <= self._bound:
            return
        excess = used - self._bound * 9 // 10
        doomed = []
        for row, size in connection.execute(
            "SELECT id, length(payload) FROM entry ORDER BY used, id"
        ):
            doomed.append((row,))
            # What a row takes up in the file, indexes included, is about this.
            excess -= size + page // 16
            if excess <= 0:
                break
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("DELETE FROM entry WHERE id = ?", doomed)
        connection.execute("COMMIT")
        connection.executescript("PRAGMA incremental_vacuum")

    # Opening, closing, and what can go wrong

    def _attempt(self, action: Callable[[sqlite3.Connection], Result], failed: Result) -> Result:
        """Do something with the file; whatever goes wrong with it costs the cache and no more."""
        with self._lock:
            import sqlite3

            for _ in range(3):
                try:
                    connection = self._open()
                    if connection is None:
                        return failed
                    # An exception out of a signal handler may have left a transaction behind.
                    self._roll_back()
                    return action(connection)
                except sqlite3.Error as error:
                    self._roll_back()
                    if not self._recover(error):
                        return failed
                except UnicodeError as error:
                    # The names of columns in a damaged schema.
                    self._set_aside(str(error))
                except OSError as error:
                    if error.errno is None:
                        raise  # a time-out of the user's, not the system's
                    self._turn_off(f"cannot be used: {error}")
            return failed

    def _recover(self, error: sqlite3.Error) -> bool:
        """Whether it is worth another try."""
        extended = getattr(error, "sqlite_errorcode", None)
        code = None if extended is None else extended & 0xFF
        if code in _PASSING:
            return False
        if extended == _MOVED:
            self._abandon()
            return True
        if code in _DAMAGED or (code == _Code.CANTOPEN and os.path.isdir(self._path)):
            self._set_aside(str(error))
            return not self._off
        if code in (_Code.FULL, _Code.IOERR, _Code.READONLY) and self._connection is not None:
            # What is there can still be read.
            self._read_only = True
            self._pending.clear()
            _warn_once(f"the cache {self._path} cannot be written to ({error})")
            return False
        self._turn_off(f"cannot be used: {error}")
        return False

    def _open(self) -> sqlite3.Connection | None:
        if self._connection is not None or self._off:
            return self._connection
        if not self._prepare_folder():
            return None
        self._path = database_path(self.folder)
        writable = os.access(self.folder, os.W_OK)
        self._read_only = not writable
        connection = connect(self._path, writable, BUSY_MILLISECONDS / 1000)
        try:
            if not adopt(connection, writable):
                connection.close()
                return None
            self._inode = os.stat(self._path).st_ino
        except CannotShare:
            connection.close()
            self._turn_off("is on a file system that cannot share a database")
            return None
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _prepare_folder(self) -> bool:
        """Whether the folder is there and ours alone."""
        try:
            os.makedirs(os.path.dirname(self.folder) or ".", exist_ok=True)
            os.mkdir(self.folder, 0o700)
        except OSError as error:
            if not os.path.exists(self.folder):
                self._turn_off(f"cannot be made: {error.strerror}")
                return False
        problem = folder_problem(self.folder)
        if problem is not None:
            self._turn_off(f"cannot be trusted: {problem}")
        return problem is None

    def _roll_back(self) -> None:
        import sqlite3

        if self._connection is not None and self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error:
                self._abandon()

    def _set_aside(self, reason: str) -> None:
        """Move a damaged or foreign file away; the next one has another name."""
        self._abandon()
        path, name = self._path, os.path.basename(self._path)
        aside = f"{name}.damaged-{generation(name)}"
        try:
            os.replace(path, os.path.join(self.folder, aside))
        except FileNotFoundError:
            return  # another process was faster
        except OSError as error:
            self._turn_off(f"has a damaged file that cannot be moved away: {error.strerror}")
            return
        for other in store_files(self.folder):
            # One is enough to find out what happened; the file that we leave has no use either.
            if (".damaged-" in other and other != aside) or other in (f"{name}-wal", f"{name}-shm"):
                remove(os.path.join(self.folder, other))
        _warn_once(f"the cache {path} was damaged ({reason}); it is now {aside}")

    def _turn_off(self, reason: str) -> None:
        self._off = True
        self._pending.clear()
        _warn_once(f"nothing is cached on disk: {self.folder} {reason}")

    def _abandon(self) -> None:
        """Let a connection be, without closing it.

        Closing removes the log beside the file by name, and that name may be another file's by now;
        in a forked child, it would end the parent's transactions.
        """
        if self._connection is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))
            self._connection = None

    def hold(self) -> None:
        """Keep other threads out until `let_go`."""
        self._lock.acquire()

    def let_go(self) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Start over in a forked child."""
        self._lock = threading.RLock()
        self._abandon()
        self._forget()

    def close(self) -> None:
        """Write what waits and close the file; a later call opens it again."""
        import sqlite3

        with self._lock:
            connection = self._connection
            if connection is None:
                return
            try:
                connection.execute(f"PRAGMA busy_timeout = {EXIT_BUSY_MILLISECONDS}")
                self.flush()
                if self._connection is None or os.stat(self._path).st_ino != self._inode:
                    self._abandon()
                    return
                connection.close()
            except (sqlite3.Error, OSError):
                self._abandon()
            self._connection = None

    # For people

    def info(self) -> StoreInfo:
        """What is in the store. Makes no folder and no file."""
        problem = folder_problem(self.folder)
        path = database_path(self.folder)
        entries: dict[Kind, int] = {}
        if problem is None and os.path.exists(path):

            def action(connection: sqlite3.Connection) -> None:
                for kind, number in connection.execute(
                    "SELECT kind, count(*) FROM entry GROUP BY kind"
                ):
                    if kind in Kind._value2member_map_:
                        entries[Kind(kind)] = number

            self._attempt(action, None)
        files = [os.path.join(self.folder, name) for name in store_files(self.folder)]
        return StoreInfo(path, sum(map(file_size, files)), entries, problem)

    def clear(self) -> None:
        """Delete all rows, and files set aside. Other processes may go on using the store."""

        def action(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM entry")
            connection.executescript("PRAGMA incremental_vacuum")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

        with self._lock:
            self._pending.clear()
            self._touched.clear()
            if os.path.exists(database_path(self.folder)):
                self._attempt(action, None)
            for name in store_files(self.folder):
                if ".damaged-" in name:
                    remove(os.path.join(self.folder, name))


def row_digest(kind: Kind, key: Key, payload: bytes) -> bytes:
    """What a row must say about its payload to be believed."""
    secret = bytes((kind,)) + key.address + key.check
    return blake2b(payload, digest_size=DIGEST_BYTES, key=secret, person=b"ogive row").digest()


def _now() -> int:
    return time.time_ns() // 1000


_warned = False


def _warn_once(message: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        filename, line = origin_line(user_origin()) or ("ogive", 1)
        warnings.warn_explicit(message, CacheWarning, filename, line)


_stores: dict[str, Store] = {}
_stores_lock = threading.Lock()
_held: list[Store] = []


def store_in(folder: str) -> Store:
    """The one store of this process for a folder."""
    store = _stores.get(folder)
    if store is None:
        with _stores_lock:
            store = _stores.setdefault(folder, Store(folder))
        if len(_stores) == 1:
            import atexit

            atexit.register(close_all)
    return store


def close_all() -> None:
    """Write what waits and close all files."""
    for store in list(_stores.values()):
        store.close()


def _hold_for_fork() -> None:
    """Wait until no thread is inside SQLite: a child would inherit its locks, locked."""
    for store in _stores.values():
        store.hold()
        _held.append(store)


def _go_on_after_fork() -> None:
    while _held:
        _held.pop().let_go()


def _renew_after_fork() -> None:
    global _stores_lock
    _held.clear()
    _stores_lock = threading.Lock()
    for store in _stores.values():
        store.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_hold_for_fork,
        after_in_parent=_go_on_after_fork,
        after_in_child=_renew_after_fork,
    )
