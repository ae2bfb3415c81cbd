"""How memory is shared and what is cached changes no bit of any result, on random graphs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ogive.compiler.engine.caches.graph_cache import graph_cache
from ogive.compiler.engine.caches.kernel_cache import kernel_cache
from ogive.config import PLANNERS, Config
from tests.compiler.engine.counting import Count
from tests.random_programs import Program, config_for, generate, run

GROUP = 8
"""Programs in one test, each of which is run 13 times. `-m soak` runs a thousand."""


pytestmark = pytest.mark.usefixtures("own_cache")


def forget() -> None:
    """What a new process does not know."""
    graph_cache.clear()
    kernel_cache.clear()


def results(program: Program, config: Config) -> dict[int, bytes]:
    return {number: tensor.numpy().tobytes() for number, tensor in run(program, config).items()}


def check(seed: int) -> None:
    """One program under each planner without a cache, with an empty one, a full one, the disk's."""
    program = generate(seed, 14)
    plain = replace(config_for(seed), disk_cache=True, schedule_cache=False)
    wanted = results(program, plain)
    for planner in PLANNERS:
        cached = replace(plain, schedule_cache=True, planner=planner)
        assert results(program, replace(cached, schedule_cache=False)) == wanted, planner
        assert results(program, cached) == wanted, planner
        with Count() as again:
            assert results(program, cached) == wanted, planner
        assert again["schedules_created"] == again["schedule_disk_hits"] == 0
        forget()
        with Count() as anew:
            assert results(program, cached) == wanted, planner
        assert anew["schedules_created"] == anew["kernels_compiled"] == 0


def check_group(group: int) -> None:
    for seed in range(group * GROUP, (group + 1) * GROUP):
        try:
            check(seed)
        except Exception as error:
            error.add_note(f"the program of seed {seed}")
            raise


def test_planners_and_caches_change_no_bit() -> None:
    check_group(3)


@pytest.mark.soak
@pytest.mark.parametrize("group", range(5000, 5125))
def test_planners_and_caches_change_no_bit_of_1000_programs(group: int) -> None:
    check_group(group)
