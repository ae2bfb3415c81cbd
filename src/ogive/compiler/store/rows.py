"""The rows of a store's file: reading with checks, writing, recording uses, deleting.

Every function works on an open file (`database.py`) and raises SQLite's errors.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ogive.compiler.digest import blake2b
from ogive.compiler.store.content_keys import DIGEST_BYTES, Key
from ogive.compiler.store.database import pragma, used_bytes
from ogive.named import NamedTuple

if TYPE_CHECKING:
    import sqlite3

ROW_LIMIT = 256 << 20
"""The greatest size of a row in bytes. A row that claims more is damaged."""

KEYS_AT_ONCE = 500
"""The keys in one statement. SQLite takes at least 999 values."""


class Kind(enum.IntEnum):
    """The kind of entry that a row holds."""

    GRAPH = 1
    KERNEL = 2
    CODE = 3
    NOTE = 4
    TRACE = 5


Entry = tuple[Kind, Key, bytes]

_READ = 'SELECT address, "check", digest, used, payload FROM entry WHERE kind = ? AND address IN '
_WRITE = (
    'INSERT OR REPLACE INTO entry (kind, address, "check", digest, used, payload) '
    "VALUES (?, ?, ?, ?, ?, ?)"
)
_TOUCH = "UPDATE entry SET used = max(used, ?) WHERE kind = ? AND address = ?"


class Row(NamedTuple):
    """A row that passed its checks. `used` is the time of its last use, None if not known."""

    key: Key
    payload: bytes
    used: int | None


def read_rows(connection: sqlite3.Connection, kind: Kind, keys: Sequence[Key]) -> Iterator[Row]:
    """The rows found for `keys`, each checked against its key and its digest."""
    for start in range(0, len(keys), KEYS_AT_ONCE):
        some = {key.address: key for key in keys[start : start + KEYS_AT_ONCE]}
        places = ", ".join("?" * len(some))
        for columns in connection.execute(f"{_READ} ({places})", (kind, *some)):
            row = _checked(kind, some, columns)
            if row is not None:
                yield row


def _checked(kind: Kind, keys: dict[bytes, Key], columns: Sequence[object]) -> Row | None:
    address, check, digest, used, payload = columns
    if not isinstance(address, bytes) or not isinstance(payload, bytes):
        return None
    key = keys.get(address)
    if key is None or key.check != check or len(payload) > ROW_LIMIT:
        return None
    if row_digest(kind, key, payload) != digest:
        return None
    return Row(key, payload, used if isinstance(used, int) else None)


def row_digest(kind: Kind, key: Key, payload: bytes) -> bytes:
    """The digest that a row must have if its payload is valid."""
    secret = bytes((kind,)) + key.address + key.check
    return blake2b(payload, digest_size=DIGEST_BYTES, key=secret, person=b"ogive row").digest()


def write_rows(
    connection: sqlite3.Connection,
    entries: Iterable[Entry],
    touches: Iterable[tuple[int, Kind, bytes]],
    now: int,
) -> None:
    """Add rows and record uses of others (time, kind, address), all in one transaction."""
    rows = [
        (kind, key.address, key.check, row_digest(kind, key, payload), now, payload)
        for kind, key, payload in entries
    ]
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(_TOUCH, touches)
    connection.executemany(_WRITE, rows)
    connection.execute("COMMIT")


def evict_rows(connection: sqlite3.Connection, bound: int) -> None:
    """Delete the least recently used rows until the file is well below `bound` bytes."""
    used, page = used_bytes(connection), pragma(connection, "page_size")
    if used <= bound:
        return
    excess = used - bound * 9 // 10
    doomed = []
    for row, size in connection.execute("SELECT id, length(payload) FROM entry ORDER BY used, id"):
        doomed.append((row,))
        # This is about what a row takes in the file, indexes included.
        excess -= size + page // 16
        if excess <= 0:
            break
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("DELETE FROM entry WHERE id = ?", doomed)
    connection.execute("COMMIT")
    connection.executescript("PRAGMA incremental_vacuum")


def count_rows(connection: sqlite3.Connection) -> dict[Kind, int]:
    """The number of rows of each kind."""
    counted = connection.execute("SELECT kind, count(*) FROM entry GROUP BY kind")
    return {Kind(kind): count for kind, count in counted if kind in Kind._value2member_map_}


def delete_rows(connection: sqlite3.Connection) -> None:
    """Delete all rows, and return their space."""
    connection.execute("DELETE FROM entry")
    connection.executescript("PRAGMA incremental_vacuum")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
