"""What a process knows of its machine's speed: measured once, kept, never trusted blindly."""

from __future__ import annotations

import dataclasses

import pytest

from ogive.compiler.devices.cpu.host import host_target, machine_signature
from ogive.compiler.devices.cpu.machine_speeds import JOBS_BEFORE, MachineSpeeds
from ogive.compiler.devices.cpu.native.pool import Pool
from ogive.compiler.devices.cpu.speed_measurement import Care, measure
from ogive.compiler.devices.cpu.speeds import Speeds, pack_speeds, unpack_speeds, usual_speeds
from ogive.compiler.engine.steps.compiled_graph import pool_for
from ogive.compiler.store.disk_cache import disk_for
from ogive.compiler.store.encoding import DamagedRecord
from ogive.compiler.store.rows import Kind
from ogive.compiler.targets.target import describe_cpu
from ogive.config import Config

CONFIG = Config()
FOUR = dataclasses.replace(
    usual_speeds(describe_cpu("x86_64-linux-gnu", cores=4)), launch=77, sharing=(0, 8, 9)
)
needs_signature = pytest.mark.skipif(machine_signature() is None, reason="nothing is kept here")


@pytest.fixture(autouse=True)
def new_cache(own_cache: str) -> None:
    """A cache of its own, and a driver."""
    pool_for(CONFIG)


class Measured:
    """Stands for measuring: what it finds, and how often it was asked."""

    def __init__(self, found: Speeds | None) -> None:
        self.found = found
        self.calls = 0

    def __call__(self, target: object) -> Speeds | None:
        self.calls += 1
        return self.found


def new_process(measured: Measured, cores: int = 4) -> MachineSpeeds:
    """What a process of so many cores knows that has just begun."""
    return MachineSpeeds(lambda: cores, measured)


class Offered:
    """A pool that has shared out so many steps."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs


def know(speeds: MachineSpeeds, jobs: int = 0, config: Config = CONFIG) -> dict[str, object]:
    pool: Pool = Offered(jobs)  # type: ignore[assignment]
    speeds.know(config, pool)
    return dataclasses.asdict(speeds.current())


def test_at_first_a_machine_is_taken_to_be_like_others() -> None:
    speeds = new_process(measured := Measured(FOUR))
    usual = dataclasses.asdict(usual_speeds(host_target()))
    assert know(speeds) == know(speeds, JOBS_BEFORE - 1) == usual
    assert not measured.calls


@needs_signature
def test_a_process_that_shares_out_much_measures_once_for_all() -> None:
    measured = Measured(FOUR)
    first = new_process(measured)
    know(first)
    for speeds in (first, new_process(measured)):
        for _ in range(3):
            assert know(speeds, JOBS_BEFORE) == dataclasses.asdict(FOUR)
    assert measured.calls == 1


def test_a_busy_machine_is_not_measured_again_and_nothing_is_kept() -> None:
    speeds = new_process(measured := Measured(None))
    usual = know(speeds)
    for _ in range(3):
        assert know(speeds, JOBS_BEFORE) == usual
    assert measured.calls == 1
    assert speeds.stored(CONFIG) is None


def test_without_a_disk_nothing_is_measured() -> None:
    speeds = new_process(measured := Measured(FOUR))
    config = Config(disk_cache=False)
    know(speeds, 0, config)
    know(speeds, JOBS_BEFORE, config)
    assert not measured.calls


@needs_signature
def test_figures_for_other_cores_are_not_this_machines() -> None:
    measured = Measured(FOUR)
    assert new_process(measured).measure(CONFIG) is FOUR
    assert new_process(measured).stored(CONFIG) is not None
    assert new_process(measured, cores=5).stored(CONFIG) is None


@needs_signature
@pytest.mark.parametrize("payload", [b"", b"nonsense", b"\0" * 200, b"\xff" * 400])
def test_a_damaged_record_is_as_good_as_none(payload: bytes) -> None:
    speeds = new_process(Measured(None))
    place = speeds.place(CONFIG)
    disk = disk_for(CONFIG)
    assert place is not None and disk is not None
    disk.write([(Kind.NOTE, place[1], payload)], CONFIG)
    assert speeds.stored(CONFIG) is None
    assert know(speeds) == dataclasses.asdict(usual_speeds(host_target()))


def test_figures_come_back_as_they_were_written() -> None:
    found = unpack_speeds(pack_speeds(FOUR))
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
    data = pack_speeds(dataclasses.replace(FOUR, **change))  # type: ignore[arg-type]
    with pytest.raises(DamagedRecord):
        unpack_speeds(data)


def test_any_cut_of_a_record_is_refused() -> None:
    data = pack_speeds(FOUR)
    for length in range(0, len(data), 7):
        with pytest.raises(DamagedRecord):
            unpack_speeds(data[:length])


def test_measuring_finds_figures_that_a_record_can_hold() -> None:
    care = Care(seconds=0.001, most_memory=8 << 20, least_gain=1e9, least_cpu_share=0.0)
    found = measure(dataclasses.replace(host_target(), cores=3), care)
    assert found is not None and found.threads == (1, 2, 3)
    again = unpack_speeds(pack_speeds(found))
    assert dataclasses.asdict(again) == dataclasses.asdict(found)
    assert found.read[0][0] > 10**8 and found.instructions > 10**7


def test_where_others_take_the_cores_nothing_is_found() -> None:
    care = Care(seconds=0.001, most_memory=8 << 20, least_cpu_share=1e9)
    assert measure(dataclasses.replace(host_target(), cores=2), care) is None
