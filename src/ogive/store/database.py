"""The file of a store: its name in the folder, its tables, and how it is opened.

    cache-v1-0.db                 the file in use, with its log (-wal, -shm) beside it
    cache-v1-0.db.damaged-0       one that was set aside; the file in use is cache-v1-1.db then
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
"""SQLite's code for a file that is none of its own."""

_TABLE = """
CREATE TABLE entry (
    id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, address BLOB NOT NULL, "check" BLOB NOT NULL,
    digest BLOB NOT NULL, used INTEGER NOT NULL, payload BLOB NOT NULL, UNIQUE (kind, address)
)
"""
_INDEX = "CREATE INDEX entry_used ON entry (used)"


class CannotShare(Exception):
    """The file is where several processes cannot use one database."""


def database_path(folder: str) -> str:
    """The file in use: each one that is set aside makes the next one's number higher.

    So no two files share a name, and with it a log, while some process still has the first open.
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
    """The files of ours in a folder, of all versions."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(name for name in names if name.startswith("cache-v") and ".db" in name)


def file_size(path: str) -> int:
    """How large a file is; 0 if it is not there."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def remove(path: str) -> None:
    """Delete a file, if that can be done."""
    try:
        if os.path.isdir(path):
            os.rmdir(path)
        else:
            os.unlink(path)
    except OSError:
        pass  # it is not in the way


def connect(
    path: str, writable: bool, busy_seconds: float, kind: type[sqlite3.Connection] | None = None
) -> sqlite3.Connection:
    """An open file, which need not be a store: see `adopt`."""
    import sqlite3

    connection = sqlite3.connect(
        path if writable else _immutable(path),
        uri=not writable,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
        factory=kind or sqlite3.Connection,
    )
    connection.text_factory = bytes  # we store no text, and what is there may not be any
    return connection


def _immutable(path: str) -> str:
    """SQLite needs to be told that nobody writes where it cannot keep its locks."""
    from urllib.parse import quote

    return f"file:{quote(os.path.abspath(path))}?immutable=1"


def adopt(connection: sqlite3.Connection, writable: bool) -> bool:
    """Make sure that an open file is a store of ours, and make it one if it is empty.

    False for an empty file that cannot be written to. Nothing is written to somebody else's file:
    that raises `sqlite3.DatabaseError`. Raises `CannotShare`.
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
    """A number that SQLite knows about a file."""
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def used_bytes(connection: sqlite3.Connection) -> int:
    """How much of a file its rows take up."""
    pages = pragma(connection, "page_count") - pragma(connection, "freelist_count")
    return pages * pragma(connection, "page_size")
