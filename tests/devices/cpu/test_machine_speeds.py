"""What a process knows of its machine's speed: measured once, kept, never trusted blindly."""

from __future__ import annotations

import dataclasses

import pytest

from ogive.config import Config
from ogive.devices.cpu import calibrate, machine_speeds
from ogive.devices.cpu.host import host_target, machine_signature
from ogive.devices.cpu.native.pool import Pool
from ogive.devices.cpu.speeds import Speeds, usual_speeds
from ogive.engine.steps.compiled_graph import pool_for
from ogive.store.disk_cache import disk_for
from ogive.store.encoding import DamagedRecord
from ogive.store.rows import Kind
from ogive.targets.target import describe_cpu

CONFIG = Config()
FOUR = dataclasses.replace(
    usual_speeds(describe_cpu("x86_64-linux-gnu", cores=4)), launch=77, sharing=(0, 8, 9)
)
needs_signature = pytest.mark.skipif(machine_signature() is None, reason="nothing is kept here")


@pytest.fixture(autouse=True)
def new_process(own_cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that knows nothing, with a cache of its own, on four cores."""
    pool_for(CONFIG)
    monkeypatch.setattr(machine_speeds, "host_cores", lambda: 4)
    forget(monkeypatch)


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_speeds, "_speeds", None)
    monkeypatch.setattr(machine_speeds, "_settled", False)


class Offered:
    """A pool that has shared out so many steps."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs


def know(jobs: int = 0, config: Config = CONFIG) -> dict[str, object]:
    pool: Pool = Offered(jobs)  # type: ignore[assignment]
    machine_speeds.know_speeds(config, pool)
    return dataclasses.asdict(machine_speeds.current_speeds())


def measuring(monkeypatch: pytest.MonkeyPatch, found: Speeds | None) -> list[int]:
    calls: list[int] = []

    def measure(target: object) -> Speeds | None:
        calls.append(1)
        return found

    monkeypatch.setattr(calibrate, "measure", measure)
    return calls


def test_at_first_a_machine_is_taken_to_be_like_others(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = measuring(monkeypatch, FOUR)
    usual = dataclasses.asdict(usual_speeds(host_target()))
    assert know() == know(machine_speeds.JOBS_BEFORE - 1) == usual
    assert not calls


@needs_signature
def test_a_process_that_shares_out_much_measures_once_for_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = measuring(monkeypatch, FOUR)
    know()
    for _ in range(3):
        assert know(machine_speeds.JOBS_BEFORE) == dataclasses.asdict(FOUR)
    forget(monkeypatch)
    for _ in range(3):
        assert know(machine_speeds.JOBS_BEFORE) == dataclasses.asdict(FOUR)
    assert len(calls) == 1


def test_a_busy_machine_is_not_measured_again_and_nothing_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = measuring(monkeypatch, None)
    usual = know()
    for _ in range(3):
        assert know(machine_speeds.JOBS_BEFORE) == usual
    assert len(calls) == 1
    assert machine_speeds.stored_speeds(CONFIG) is None


def test_without_a_disk_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = measuring(monkeypatch, FOUR)
    config = Config(disk_cache=False)
    know(0, config)
    know(machine_speeds.JOBS_BEFORE, config)
    assert not calls


@needs_signature
def test_figures_for_other_cores_are_not_this_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    measuring(monkeypatch, FOUR)
    assert machine_speeds.measure_speeds(CONFIG) is FOUR
    assert machine_speeds.stored_speeds(CONFIG) is not None
    monkeypatch.setattr(machine_speeds, "host_cores", lambda: 5)
    assert machine_speeds.stored_speeds(CONFIG) is None


@needs_signature
@pytest.mark.parametrize("payload", [b"", b"nonsense", b"\0" * 200, b"\xff" * 400])
def test_a_damaged_record_is_as_good_as_none(payload: bytes) -> None:
    place = machine_speeds._place(CONFIG)
    disk = disk_for(CONFIG)
    assert place is not None and disk is not None
    disk.write([(Kind.NOTE, place[1], payload)], CONFIG)
    assert machine_speeds.stored_speeds(CONFIG) is None
    assert know() == dataclasses.asdict(usual_speeds(host_target()))


def test_figures_come_back_as_they_were_written() -> None:
    found = machine_speeds.unpack_speeds(machine_speeds.pack_speeds(FOUR))
    assert dataclasses.asdict(found) == dataclasses.asdict(FOUR)


@pytest.mark.parametrize(
    "change",
    [
        {"threads": (1, 4, 2)},
        {"threads": (2, 3, 4)},
        {"threads": ()},
        {"caches": (1, 2)},
        {"sharing": (0, 1)},
        {"sharing": (0, 1, -1)},
        {"instructions": 0},
        {"read": ((0, 0, 0),) * 4},
        {"write": ((1, 1),) * 4},
    ],
)
def test_figures_that_no_machine_has_are_refused(change: dict[str, object]) -> None:
    data = machine_speeds.pack_speeds(dataclasses.replace(FOUR, **change))  # type: ignore[arg-type]
    with pytest.raises(DamagedRecord):
        machine_speeds.unpack_speeds(data)


def test_any_cut_of_a_record_is_refused() -> None:
    data = machine_speeds.pack_speeds(FOUR)
    for length in range(0, len(data), 7):
        with pytest.raises(DamagedRecord):
            machine_speeds.unpack_speeds(data[:length])


def test_measuring_finds_figures_that_a_record_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "SECONDS": 0.001, "MOST_MEMORY": 8 << 20, "LEAST_GAIN": 1e9, "LEAST_CPU_SHARE": 0.0,
    }.items():  # fmt: skip
        monkeypatch.setattr(calibrate, name, value)
    found = calibrate.measure(dataclasses.replace(host_target(), cores=3))
    assert found is not None and found.threads == (1, 2, 3)
    again = machine_speeds.unpack_speeds(machine_speeds.pack_speeds(found))
    assert dataclasses.asdict(again) == dataclasses.asdict(found)
    assert found.read[0][0] > 10**8 and found.instructions > 10**7


def test_where_others_take_the_cores_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate, "SECONDS", 0.001)
    monkeypatch.setattr(calibrate, "MOST_MEMORY", 8 << 20)
    monkeypatch.setattr(calibrate, "LEAST_CPU_SHARE", 1e9)
    assert calibrate.measure(dataclasses.replace(host_target(), cores=2)) is None
