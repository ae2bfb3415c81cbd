"""How many threads some work is worth, on a machine whose speeds are given."""

from __future__ import annotations

import dataclasses

import pytest

from ogive.compiler.devices.cpu.speeds import Speeds, thread_count, thread_counts, usual_speeds
from ogive.compiler.devices.protocol import Work
from ogive.compiler.targets.target import describe_cpu

GB = 10**9
SIXTEEN = Speeds(
    caches=(32 << 10, 1 << 20, 32 << 20),
    threads=(1, 2, 4, 8, 16),
    read=(
        (200 * GB, 400 * GB, 800 * GB, 1600 * GB, 3200 * GB),
        (100 * GB, 200 * GB, 400 * GB, 800 * GB, 1600 * GB),
        (40 * GB, 80 * GB, 150 * GB, 250 * GB, 300 * GB),
        (12 * GB, 24 * GB, 40 * GB, 42 * GB, 42 * GB),
    ),
    write=(
        (200 * GB, 400 * GB, 800 * GB, 1600 * GB, 3200 * GB),
        (100 * GB, 200 * GB, 400 * GB, 800 * GB, 1600 * GB),
        (40 * GB, 80 * GB, 150 * GB, 250 * GB, 300 * GB),
        (12 * GB, 24 * GB, 40 * GB, 42 * GB, 42 * GB),
    ),
    instructions=4 * GB,
    launch=30,
    sharing=(0, 2000, 3000, 5000, 10_000),
)


def addition(count: int) -> Work:
    return Work(count // 4, 8 * count, 4 * count)


def arithmetic(microseconds: int) -> Work:
    return Work(microseconds * 4000, 0, 0)


@pytest.mark.parametrize(
    ("work", "threads"),
    [
        (addition(1), 1),
        (addition(10_000), 1),
        (addition(100_000), 4),  # 30 µs in L3 alone, 3 in four L2 and 3 for sharing it out
        (addition(100_000_000), 4),  # the memory serves no more than four
        (arithmetic(1), 1),
        (arithmetic(3), 1),  # two would take 1.5 and 2
        (arithmetic(10), 4),
        (arithmetic(100), 8),
        (arithmetic(1000), 16),
        (Work(0, 0, 0), 1),
    ],
)
def test_work_is_worth_so_many_threads(work: Work, threads: int) -> None:
    assert thread_count(SIXTEEN, work, 16) == threads


@pytest.mark.parametrize("most", [1, 2, 3, 7, 16, 40])
def test_no_more_threads_are_asked_for_than_there_are(most: int) -> None:
    for microseconds in (1, 10, 100, 1000, 100_000):
        assert 1 <= thread_count(SIXTEEN, arithmetic(microseconds), most) <= most


def test_long_work_takes_all_threads_even_between_columns() -> None:
    assert thread_count(SIXTEEN, arithmetic(100_000), 7) == 7


def test_more_work_is_never_worth_fewer_threads() -> None:
    counts = [thread_count(SIXTEEN, arithmetic(time), 16) for time in range(1, 3000, 7)]
    assert counts == sorted(counts)


def test_where_sharing_costs_much_one_thread_does_it() -> None:
    slow = dataclasses.replace(SIXTEEN, sharing=(0, 10**6, 10**6, 10**6, 10**6))
    assert thread_count(slow, arithmetic(1000), 16) == 1
    assert thread_count(slow, arithmetic(100_000), 16) == 16


@pytest.mark.parametrize(
    ("cores", "counts"), [(1, (1,)), (2, (1, 2)), (3, (1, 2, 3)), (16, (1, 2, 4, 8, 16))]
)
def test_powers_of_two_and_all_cores_are_told_apart(cores: int, counts: tuple[int, ...]) -> None:
    assert thread_counts(cores) == counts


@pytest.mark.parametrize("cores", [1, 2, 6, 64])
def test_the_usual_speeds_leave_little_work_alone_and_share_much(cores: int) -> None:
    speeds = usual_speeds(describe_cpu("x86_64-linux-gnu", cores=cores))
    assert all(len(row) == len(speeds.threads) for row in (*speeds.read, *speeds.write))
    assert len(speeds.sharing) == len(speeds.threads)
    assert thread_count(speeds, addition(10_000), cores) == 1
    assert thread_count(speeds, arithmetic(100_000), cores) == cores
