"""Files as read-only memory, from which a plan copies its inputs when it runs.

A file is known by its absolute path and opened anew for each copy, which reads its content at that
moment, even if it was changed or replaced before. The size is checked then, and reads never go
through mapped memory. So a file that is gone or too short is an error, not a signal.
"""

from __future__ import annotations

import os
import stat

from ogive.compiler.devices.handle import Handle
from ogive.errors import ArgumentError, FileError, MissingFileError

CHUNK = 1 << 24
"""The bytes of one read. Python checks for signals between reads."""


class DiskBuffer(Handle):
    """`nbytes` of the file at `path`, from `offset` on."""

    __slots__ = ("offset", "path")

    def __init__(self, path: str, offset: int, nbytes: int) -> None:
        super().__init__(nbytes, "DISK")
        self.path = path
        self.offset = offset

    def view(self, offset: int, nbytes: int) -> DiskBuffer:
        """The `nbytes` that start `offset` bytes into this buffer. Raises `ArgumentError`."""
        if offset < 0 or nbytes < 0 or offset + nbytes > self.nbytes:
            raise ArgumentError(
                f"bytes {offset} to {offset + nbytes} are not all inside a buffer of {self.nbytes}"
            )
        return DiskBuffer(self.path, self.offset + offset, nbytes)

    def check(self) -> None:
        """Raise `FileError` unless there is a file that holds all of it now."""
        os.close(self._open())

    def read_into(self, target: memoryview, chunk: int = CHUNK) -> None:
        """Read all of it into `target`, which is as large, `chunk` bytes at a time.

        Raises `FileError`.
        """
        assert target.nbytes == self.nbytes, "a copy is as large as what it copies"
        file = self._open()
        try:
            done = 0
            while done < self.nbytes:
                part = target[done : done + chunk]
                count = os.preadv(file, [part], self.offset + done)
                if count == 0:  # the file was truncated after it was opened
                    raise self._too_short(self.offset + done)
                done += count
        except OSError as error:
            raise error if isinstance(error, FileError) else self._unreadable(error) from error
        finally:
            os.close(file)

    def _open(self) -> int:
        try:
            # O_NONBLOCK: opening a pipe must not wait.
            file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except (OSError, ValueError) as error:
            raise self._unreadable(error) from None
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise FileError(f"{self.path!r} is not a regular file")
            if status.st_size < self.offset + self.nbytes:
                raise self._too_short(status.st_size)
        except BaseException:
            os.close(file)
            raise
        return file

    def _too_short(self, size: int) -> FileError:
        return FileError(
            f"{self.path!r} has {size} bytes, and bytes {self.offset} to "
            f"{self.offset + self.nbytes} of it are needed"
        )

    def _unreadable(self, error: Exception) -> FileError:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        kind = MissingFileError if isinstance(error, FileNotFoundError) else FileError
        return kind(
            f"{self.path!r} cannot be read ({reason}), and bytes {self.offset} to "
            f"{self.offset + self.nbytes} of it are needed"
        )

    def __repr__(self) -> str:
        return f"DiskBuffer({self.path!r}, offset {self.offset}, {self.nbytes} bytes)"
