"""`torch.utils.tensorboard`: scalars, text and histograms, in files for TensorBoard.

A file is a sequence of records. A record is a length, its checksum, a protocol buffer, and its
checksum.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from typing import Any

import numpy

__all__ = ["FileWriter", "SummaryWriter"]


def _make_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _make_table()


def _checksum(data: bytes) -> int:
    """The CRC-32C of bytes, masked (rotated and shifted) as the file format requires."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _varint(value: int) -> bytes:
    content = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        content.append(value & 127 | 128)
        value >>= 7
    return bytes([*content, value])


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _double(field: int, value: float) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", value)


def _float(field: int, value: float) -> bytes:
    return _varint(field << 3 | 5) + struct.pack("<f", value)


def _integer(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


class FileWriter:
    """A file of events in a folder."""

    def __init__(self, log_dir: str, filename_suffix: str = "", **options: Any) -> None:
        os.makedirs(log_dir, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}"
        self.log_dir = log_dir
        self._file = open(os.path.join(log_dir, name + filename_suffix), "ab")  # noqa: SIM115
        self.add_event(_bytes(3, b"brain.Event:2"), None)

    def add_event(self, content: bytes, step: int | None, walltime: float | None = None) -> None:
        """Append an event."""
        data = _double(1, time.time() if walltime is None else walltime)
        if step is not None:
            data += _integer(2, int(step))
        data += content
        length = struct.pack("<Q", len(data))
        parts = (length, struct.pack("<I", _checksum(length)), data)
        self._file.write(b"".join(parts) + struct.pack("<I", _checksum(data)))

    def flush(self) -> None:
        """Write everything buffered to the file."""
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class SummaryWriter:
    """Writes the results of training into files of a folder.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
    ...     writer.add_scalar("loss", 0.5, 1)
    ...     writer.flush()
    ...     len(os.listdir(folder))
    1
    """

    def __init__(
        self,
        log_dir: str | None = None,
        comment: str = "",
        purge_step: Any = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        stamp = time.strftime("%b%d_%H-%M-%S")
        default = os.path.join("runs", f"{stamp}_{socket.gethostname()}{comment}")
        self.log_dir = str(log_dir) if log_dir else default
        self._writer = FileWriter(self.log_dir, filename_suffix)

    def _add(self, value: bytes, step: int | None, walltime: float | None) -> None:
        self._writer.add_event(_bytes(5, _bytes(1, value)), step, walltime)

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: int | None = None,
        walltime: float | None = None, **options: Any,
    ) -> None:  # fmt: skip
        """Write a number at a step. It may be an array or a tensor of one element."""
        number = float(numpy.asarray(scalar_value).item())
        self._add(_bytes(1, tag.encode()) + _float(2, number), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write several numbers at a step."""
        for name, value in tag_scalar_dict.items():
            self.add_scalar(f"{main_tag}/{name}", value, global_step, walltime)

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write text at a step."""
        plugin = _bytes(9, _bytes(1, _bytes(1, b"text")))
        shape = _bytes(2, _bytes(2, _integer(1, 1)))
        tensor = _bytes(8, _integer(1, 7) + shape + _bytes(8, text_string.encode()))
        content = _bytes(1, f"{tag}/text_summary".encode()) + plugin + tensor
        self._add(content, global_step, walltime)

    def add_histogram(
        self, tag: str, values: Any, global_step: int | None = None, bins: Any = 30,
        walltime: float | None = None, max_bins: Any = None,
    ) -> None:  # fmt: skip
        """Write a histogram of values at a step."""
        array = numpy.asarray(getattr(values, "detach", lambda: values)(), numpy.float64).ravel()
        counts, edges = numpy.histogram(array, bins=30 if isinstance(bins, str) else bins)
        packed = [_bytes(6, edges[1:].tobytes()), _bytes(7, counts.astype(numpy.float64).tobytes())]
        totals = [array.min(), array.max(), float(array.size), array.sum(), (array**2).sum()]
        numbers = b"".join([_double(field, value) for field, value in enumerate(totals, 1)])
        content = _bytes(1, tag.encode()) + _bytes(5, numbers + b"".join(packed))
        self._add(content, global_step, walltime)

    def add_hparams(
        self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any], **options: Any
    ) -> None:
        """Write the hyperparameters of a run as text, and its metrics as numbers."""
        rows = "\n".join([f"|{key}|{value}|" for key, value in hparam_dict.items()])
        self.add_text("hparams", "|param|value|\n|-|-|\n" + rows)
        for name, value in metric_dict.items():
            self.add_scalar(name, value)

    def get_logdir(self) -> str:
        """The folder."""
        return self.log_dir

    def flush(self) -> None:
        """Write everything buffered to the file."""
        self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        self._writer.close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
