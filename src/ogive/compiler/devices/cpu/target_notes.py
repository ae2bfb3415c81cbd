"""Notes on a target for processes that compile nothing: its key, and speeds to begin with.

A target holds the whole cost model. A process that finds all its code on disk reads neither: the
first process that made the target has noted these two for all that come after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive.compiler.devices.cpu.host import host_caches, host_cores, machine_signature
from ogive.compiler.devices.cpu.speeds import Speeds, pack_speeds, unpack_speeds, usual_speeds
from ogive.compiler.store.encoding import DamagedRecord, Reader, Writer
from ogive.compiler.store.rows import Kind
from ogive.named import NamedTuple

if TYPE_CHECKING:
    from ogive.compiler.store.content_keys import Key
    from ogive.compiler.store.disk_cache import Disk
    from ogive.compiler.targets.target import Target
    from ogive.config import Config


class TargetNote(NamedTuple):
    """The key of a target, and the speeds assumed of a machine that has not been measured."""

    key: str
    usual_speeds: Speeds

    @classmethod
    def of(cls, target: Target) -> TargetNote:
        """The note of a target."""
        return cls(target.key, usual_speeds(target))


def note_place(disk: Disk) -> Key | None:
    """Where a disk keeps the note: it follows from the compiler, which has the costs, and from what
    the machine is, with its caches and cores. None where machines cannot be told apart."""
    machine = machine_signature()
    if machine is None:
        return None
    return disk.machine_key(b"target", machine, repr((host_caches(), host_cores())).encode())


def read_note(disk: Disk) -> TargetNote | None:
    """The note that an earlier process has left on a disk."""
    place = note_place(disk)
    payload = None if place is None else disk.store.read(Kind.NOTE, [place]).get(place)
    if payload is None:
        return None
    try:
        reader = Reader(payload)
        note = TargetNote(reader.text(), unpack_speeds(reader.data()))
        reader.finish()
    except DamagedRecord:
        return None
    return note


def write_note(disk: Disk, note: TargetNote, config: Config) -> None:
    """Leave a note for the next process."""
    place = note_place(disk)
    if place is not None:
        writer = Writer()
        writer.text(note.key)
        writer.data(pack_speeds(note.usual_speeds))
        disk.write([(Kind.NOTE, place, writer.finish())], config)
