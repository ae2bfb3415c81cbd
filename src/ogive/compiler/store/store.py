"""A persistent key-value store in one SQLite file: checked rows, bounded size, LRU eviction.

Nothing here ever raises because of the file. A row that fails its check counts as absent. A file
that is damaged or not ours is set aside. If the folder cannot be used at all, nothing is stored.
The user gets a warning of the first problem.
"""

from __future__ import annotations

import contextlib
import enum
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from ogive.compiler.store.content_keys import Key
from ogive.compiler.store.database import (
    NOT_A_DATABASE,
    CannotShare,
    adopt,
    connect,
    database_path,
    file_size,
    generation,
    remove,
    store_files,
)
from ogive.compiler.store.rows import (
    ROW_LIMIT,
    Entry,
    Kind,
    count_rows,
    delete_rows,
    evict_rows,
    read_rows,
    write_rows,
)
from ogive.errors import CacheWarning, origin_line, user_origin
from ogive.folders import folder_problem
from ogive.named import NamedTuple

if TYPE_CHECKING:
    import sqlite3

Result = TypeVar("Result")

BUSY_SECONDS = 1.0
"""How many seconds to wait for a file that another process has locked."""

EXIT_BUSY_MILLISECONDS = 200
PENDING_LIMIT = 64 << 20
"""The most bytes that wait in memory while the file is locked."""

TOUCH_MICROSECONDS = 3600 * 1_000_000
"""The age of a recorded use, below which recording a new one is not worth a write of its own."""

TOUCHES_HELD = 4096


class _Code(enum.IntEnum):
    """SQLite's primary result codes that are handled separately."""

    ERROR = 1  # no such table or column: a foreign database
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
_MOVED = 1032  # SQLITE_READONLY_DBMOVED: the file was deleted or moved while it was open


def _microseconds() -> int:
    return time.time_ns() // 1000


class Connect(Protocol):
    """Opens a file: see `database.connect`."""

    def __call__(
        self, path: str, writable: bool, busy_seconds: float
    ) -> sqlite3.Connection: ...


class StoreInfo(NamedTuple):
    """Counts of the contents of a store. `problem` says why it cannot be used, or is None."""

    path: str
    nbytes: int
    entries: dict[Kind, int]
    problem: str | None


class Store:
    """The rows in one folder. All methods may be called from any thread, and after a fork.

    `now` gives the time in microseconds, `connect` opens a file, and `is_writable` says whether
    files in a folder may be written.
    """

    def __init__(
        self,
        folder: str,
        *,
        busy_seconds: float = BUSY_SECONDS,
        now: Callable[[], int] = _microseconds,
        connect: Connect = connect,
        is_writable: Callable[[str], bool] = lambda folder: os.access(folder, os.W_OK),
    ) -> None:
        self.folder = folder
        self._busy_seconds = busy_seconds
        self._now = now
        self._connect = connect
        self._is_writable = is_writable
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._warned = False
        self._forget()

    def _forget(self) -> None:
        self._path = ""
        self._off = False
        self._read_only = False
        self._pending: list[Entry] = []
        self._touched: dict[tuple[Kind, bytes], int] = {}
        self._touch_due = False
        self._bound = 1 << 62

    # Reading and writing

    def read(self, kind: Kind, keys: Sequence[Key]) -> dict[Key, bytes]:
        """The payloads found for `keys`, each checked against its key and digest."""
        payloads: dict[Key, bytes] = {}
        if not keys or self._off:
            return payloads

        def action(connection: sqlite3.Connection) -> None:
            for key, payload, used in read_rows(connection, kind, keys):
                payloads[key] = payload
                self._touch(kind, key, used)

        self._attempt(action, None)
        return payloads

    def _touch(self, kind: Kind, key: Key, used: int | None) -> None:
        """Record the use of a row. `used` is the time of the last use in the file."""
        now = self._now()
        if used is None or not 0 <= now - used < TOUCH_MICROSECONDS:
            self._touch_due = True
        if len(self._touched) < TOUCHES_HELD:
            self._touched[kind, key.address] = now

    def write(self, entries: Iterable[Entry], bound: int | None = None) -> None:
        """Store rows, all of them or none, and keep the file below about `bound` bytes.

        If the file is locked for long, they wait in memory for the next call or the exit.
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
        """Write pending rows and recorded uses."""
        with self._lock:
            if self._connection is None or self._off or self._read_only:
                return
            if self._pending or self._touch_due:
                self._attempt(self._flush, False)

    def _flush(self, connection: sqlite3.Connection) -> bool:
        touches = [(used, kind, address) for (kind, address), used in self._touched.items()]
        write_rows(connection, self._pending, touches, self._now())
        self._pending.clear()
        self._touched.clear()
        self._touch_due = False
        evict_rows(connection, self._bound)
        return True

    def _limit_pending(self) -> None:
        total = 0
        for position in range(len(self._pending) - 1, -1, -1):
            total += len(self._pending[position][2])
            if total > PENDING_LIMIT:
                del self._pending[: position + 1]
                return

    # Opening and errors

    def _attempt(self, action: Callable[[sqlite3.Connection], Result], failed: Result) -> Result:
        """Run an action on the file. Errors of the file are handled and cost only the cache."""
        with self._lock:
            import sqlite3

            for _ in range(3):
                try:
                    connection = self._open()
                    if connection is None:
                        return failed
                    # An exception from a signal handler may have left a transaction open.
                    self._roll_back()
                    return action(connection)
                except sqlite3.Error as error:
                    if self._is_forked(error):
                        continue
                    self._roll_back()
                    if not self._recover(error):
                        return failed
                except UnicodeError as error:
                    # The schema has damaged names of columns.
                    self._set_aside(str(error))
                except OSError as error:
                    if error.errno is None:
                        raise  # a time-out of the user, not of the system
                    self._turn_off(f"cannot be used: {error}")
            return failed

    def _is_forked(self, error: sqlite3.Error) -> bool:
        """Whether a signal handler forked during the action, and so closed the file (`hold`)."""
        import sqlite3

        return self._connection is None and isinstance(error, sqlite3.ProgrammingError)

    def _recover(self, error: sqlite3.Error) -> bool:
        """Handle an error; gives whether to try again."""
        extended = getattr(error, "sqlite_errorcode", None)
        code = None if extended is None else extended & 0xFF
        if code in _PASSING:
            return False
        if extended == _MOVED:
            self._disconnect()
            return True
        if code in _DAMAGED or (code == _Code.CANTOPEN and os.path.isdir(self._path)):
            self._set_aside(str(error))
            return not self._off
        if code in (_Code.FULL, _Code.IOERR, _Code.READONLY) and self._connection is not None:
            # Existing rows can still be read.
            self._read_only = True
            self._pending.clear()
            self._warn(f"the cache {self._path} cannot be written to ({error})")
            return False
        self._turn_off(f"cannot be used: {error}")
        return False

    def _open(self) -> sqlite3.Connection | None:
        if self._connection is not None or self._off:
            return self._connection
        if not self._prepare_folder():
            return None
        self._path = database_path(self.folder)
        writable = self._is_writable(self.folder)
        self._read_only = not writable
        connection = self._connect(self._path, writable, self._busy_seconds)
        try:
            if not adopt(connection, writable):
                connection.close()
                return None
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
        """Whether the folder exists and belongs to the user alone."""
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
                self._disconnect()

    def _set_aside(self, reason: str) -> None:
        """Move a damaged or foreign file away. The next file has another name."""
        self._disconnect()
        path, name = self._path, os.path.basename(self._path)
        aside = f"{name}.damaged-{generation(name)}"
        try:
            os.replace(path, os.path.join(self.folder, aside))
        except FileNotFoundError:
            return  # another process has moved it
        except OSError as error:
            self._turn_off(f"has a damaged file that cannot be moved away: {error.strerror}")
            return
        for other in store_files(self.folder):
            # One damaged file is enough to examine, and the log of the file that we leave is
            # useless.
            if (".damaged-" in other and other != aside) or other in (f"{name}-wal", f"{name}-shm"):
                remove(os.path.join(self.folder, other))
        self._warn(f"the cache {path} was damaged ({reason}); it is now {aside}")

    def _turn_off(self, reason: str) -> None:
        self._off = True
        self._pending.clear()
        self._warn(f"nothing is cached on disk: {self.folder} {reason}")

    def _warn(self, message: str) -> None:
        if not self._warned:
            self._warned = True
            filename, line = origin_line(user_origin()) or ("ogive", 1)
            warnings.warn_explicit(message, CacheWarning, filename, line)

    # Closing

    def _disconnect(self) -> None:
        """Close the file, if it is open. An open transaction is rolled back.

        When the last connection closes, SQLite deletes the log by name, after checking that the
        name still belongs to that file.
        """
        import sqlite3

        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):  # the connection is not used any more
                connection.close()

    def hold(self) -> None:
        """Close the file and keep other threads out until `let_go` or, in a child, `renew`.

        According to SQLite, a child must not even close an inherited connection, whose locks belong
        to the parent.
        """
        self._lock.acquire()
        self._disconnect()

    def let_go(self) -> None:
        """Let other threads in again."""
        self._lock.release()

    def renew(self) -> None:
        """Reset the store in a forked child."""
        self._lock = threading.RLock()
        self._forget()

    def close(self) -> None:
        """Write pending rows and close the file. A later call opens it again."""
        import sqlite3

        with self._lock:
            if self._connection is None:
                return
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute(f"PRAGMA busy_timeout = {EXIT_BUSY_MILLISECONDS}")
                self.flush()
            self._disconnect()

    # For people

    def info(self) -> StoreInfo:
        """Counts of the store's contents. Creates no folder and no file."""
        problem = folder_problem(self.folder)
        path = database_path(self.folder)
        entries: dict[Kind, int] = {}
        if problem is None and os.path.exists(path):
            entries = self._attempt(count_rows, entries)
        files = [os.path.join(self.folder, name) for name in store_files(self.folder)]
        return StoreInfo(path, sum(map(file_size, files)), entries, problem)

    def clear(self) -> None:
        """Delete all rows and the files set aside. Other processes may keep using the store."""
        with self._lock:
            self._pending.clear()
            self._touched.clear()
            if os.path.exists(database_path(self.folder)):
                self._attempt(delete_rows, None)
            for name in store_files(self.folder):
                if ".damaged-" in name:
                    remove(os.path.join(self.folder, name))
