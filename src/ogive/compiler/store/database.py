"""The file of a store: its name in the folder, its tables, and opening it.

    cache-v1-0.db                 the file in use, with its log (-wal, -shm) beside it
    cache-v1-0.db.damaged-0       a file that was set aside; then cache-v1-1.db is in use
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

SCHEMA = 1
APPLICATION = 0x4F676976
LOG_BYTES = 4 << 20
NOT_A_DATABASE = 26
"""SQLite's code for a file that is not a database."""

_TABLE = """
CREATE TABLE entry (
    id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, address BLOB NOT NULL, "check" BLOB NOT NULL,
    digest BLOB NOT NULL, used INTEGER NOT NULL, payload BLOB NOT NULL, UNIQUE (kind, address)
)
"""
_INDEX = "CREATE INDEX entry_used ON entry (used)"


class CannotShare(Exception):
    """Raised if the file is in a place where processes cannot share a database."""


def database_path(folder: str) -> str:
    """The path of the file in use. Its number is higher than those of all files set aside.

    So no two files share a name, and with it a log, while a process still has the first one open.
    """
    set_aside = [
        generation(name)
        for name in store_files(folder)
        if ".damaged-" in name and name.startswith(f"cache-v{SCHEMA}-")
    ]
    return os.path.join(folder, f"cache-v{SCHEMA}-{max(set_aside, default=-1) + 1}.db")


def generation(name: str) -> int:
    """The number in the name of a file."""
    number = name.partition(".db")[0].rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def store_files(folder: str) -> list[str]:
    """The names of our files in a folder, of all versions."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(name for name in names if name.startswith("cache-v") and ".db" in name)


def file_size(path: str) -> int:
    """The bytes of a file; 0 if it does not exist."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def remove(path: str) -> None:
    """Delete a file, if possible."""
    try:
        if os.path.isdir(path):
            os.rmdir(path)
        else:
            os.unlink(path)
    except OSError:
        pass  # a file that stays does no harm


def connect(
    path: str, writable: bool, busy_seconds: float, kind: type[sqlite3.Connection] | None = None
) -> sqlite3.Connection:
    """A connection to a file, which need not be a store yet: see `adopt`."""
    import sqlite3

    connection = sqlite3.connect(
        path if writable else _immutable(path),
        uri=not writable,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
        factory=kind or sqlite3.Connection,
    )
    connection.text_factory = bytes  # we store no text, and foreign text may be invalid
    return connection


def _immutable(path: str) -> str:
    """The URI of a file that nothing writes, for places where SQLite cannot keep its locks."""
    from urllib.parse import quote

    return f"file:{quote(os.path.abspath(path))}?immutable=1"


def adopt(connection: sqlite3.Connection, writable: bool) -> bool:
    """Check that an open file is one of our stores, and make it one if it is empty.

    False for an empty file that cannot be written. A foreign file is never written; it raises
    `sqlite3.DatabaseError`. Raises `CannotShare`.
    """
    import sqlite3

    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    identity = _identity(connection)
    if identity == (0, 0) and not pragma(connection, "schema_version"):
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    elif identity != (APPLICATION, SCHEMA):
        error = sqlite3.DatabaseError("it is not a cache of this version of Ogive")
        error.sqlite_errorcode = NOT_A_DATABASE
        raise error
    if not writable:
        return identity != (0, 0)
    if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != b"wal":
        raise CannotShare
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
    if identity == (0, 0):
        connection.execute("BEGIN IMMEDIATE")
        if _identity(connection) == (0, 0):
            connection.execute(_TABLE)
            connection.execute(_INDEX)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
        connection.execute("COMMIT")
    return True


def _identity(connection: sqlite3.Connection) -> tuple[int, int]:
    return pragma(connection, "application_id"), pragma(connection, "user_version")


def pragma(connection: sqlite3.Connection, name: str) -> int:
    """The value of one of SQLite's pragmas for a file."""
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def used_bytes(connection: sqlite3.Connection) -> int:
    """The bytes of a file that its rows take."""
    pages = pragma(connection, "page_count") - pragma(connection, "freelist_count")
    return pages * pragma(connection, "page_size")
