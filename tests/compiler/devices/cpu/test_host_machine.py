"""The machine is known without asking LLVM, and LLVM is believed where they differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from ogive.compiler.devices.cpu.host import HostCpu, detect_cpu, host_target, machine_signature
from ogive.compiler.devices.cpu.host_machine import HostMachine, note_cpu, note_key
from ogive.compiler.devices.cpu.speeds import usual_speeds
from ogive.compiler.devices.cpu.target_notes import read_note
from ogive.compiler.store import disk_cache as disk_module
from ogive.compiler.store.rows import Kind
from ogive.config import Config

CONFIG = Config()


pytestmark = pytest.mark.usefixtures("own_cache")


def test_the_target_is_llvms() -> None:
    machine = HostMachine()
    assert machine.target_for(CONFIG) == machine.confirmed_target(CONFIG) == host_target()


needs_signature = pytest.mark.skipif(machine_signature() is None, reason="LLVM is always asked")


@needs_signature
def test_a_second_process_does_not_ask_llvm() -> None:
    first = HostMachine().target_for(CONFIG)
    second = HostMachine(lambda: pytest.fail("LLVM was asked"))
    assert second.target_for(CONFIG) == first


@needs_signature
def test_the_key_of_the_target_is_noted_for_processes_that_compile_nothing() -> None:
    first = HostMachine()
    assert first.target_key(CONFIG) == first.target_for(CONFIG).key
    disk = disk_module.disk_for(CONFIG)
    assert disk is not None
    note = read_note(disk)
    assert note is not None
    assert note.key == HostMachine().target_key(CONFIG) == host_target().key
    assert note.usual_speeds == usual_speeds(host_target())


@needs_signature
def test_a_key_that_follows_from_a_wrong_note_is_corrected_as_well() -> None:
    machine = HostMachine()
    note_cpu(CONFIG, HostCpu(detect_cpu().triple, "i486", "-avx2"))
    assert machine.target_key(CONFIG) != host_target().key
    machine.confirmed_target(CONFIG)
    assert machine.target_key(CONFIG) == host_target().key
    assert HostMachine().target_key(CONFIG) == host_target().key


def test_costs_of_the_settings_have_a_key_of_their_own() -> None:
    machine = HostMachine()
    other = Config(costs=host_target().costs.with_changes(fusion={"shared_work": 0}))
    assert machine.target_key(other) == machine.target_for(other).key != machine.target_key(CONFIG)


@needs_signature
def test_a_wrong_note_is_corrected_before_anything_is_compiled() -> None:
    cpu, machine = detect_cpu(), HostMachine()
    note_cpu(CONFIG, HostCpu(cpu.triple, "i486", "-avx2"))
    assert machine.target_for(CONFIG).cpu == "i486"
    assert machine.confirmed_target(CONFIG) == machine.target_for(CONFIG) == host_target()
    assert HostMachine().target_for(CONFIG) == host_target()


@needs_signature
def test_a_note_that_makes_no_sense_is_ignored() -> None:
    disk, key = disk_module.disk_for(CONFIG), note_key()
    assert disk is not None and key is not None
    disk.write([(Kind.NOTE, key, b"nonsense")], CONFIG)
    assert HostMachine().target_for(CONFIG) == host_target()


CORE = """processor : 0
vendor_id : AuthenticAMD
model name : AMD EPYC
cpu MHz : {mhz}
flags : fpu {flags}
bogomips : {mhz}

processor : 1
flags : fpu
"""


def signature(root: Path, flags: str = "avx2", mhz: str = "2000") -> bytes | None:
    (root / "proc").mkdir(exist_ok=True)
    (root / "proc/cpuinfo").write_text(CORE.format(flags=flags, mhz=mhz))
    return machine_signature(root)


def test_the_signature_follows_the_instruction_set_and_not_the_clock(tmp_path: Path) -> None:
    first = signature(tmp_path)
    assert first is not None
    assert signature(tmp_path, mhz="3000") == first
    assert signature(tmp_path, flags="avx2 avx512f") != first


@pytest.mark.parametrize("text", [None, "", "processor : 0\nmodel name : X\n\n", "flags : cut of"])
def test_no_signature_where_the_instruction_set_is_not_told(
    tmp_path: Path, text: str | None
) -> None:
    if text is not None:
        (tmp_path / "proc").mkdir()
        (tmp_path / "proc/cpuinfo").write_text(text)
    assert machine_signature(tmp_path) is None
