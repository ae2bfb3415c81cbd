"""A search on request: `Config(search=Beam(...))`, its results, and where they are kept."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Beam, Config, Tensor
from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.engine.caches import found_placements as search_module
from ogive.compiler.engine.caches.found_placements import placed_key, placement_cache
from ogive.compiler.engine.caches.graph_cache import graph_cache
from ogive.compiler.engine.caches.kernel_cache import kernel_cache
from ogive.compiler.engine.caches.kernels import Kernel
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.kernel_search import search_placements
from ogive.compiler.search.search_result import Result
from ogive.compiler.store.content_keys import make_key
from ogive.compiler.store.disk_cache import disk_for
from ogive.errors import ConfigError
from tests.compiler.engine.counting import Count
from tests.compiler.search.kernels import TARGET, data, region_of
from tests.raising import raises

BEAM = Config(search=Beam(2, 1.5))


@pytest.fixture(autouse=True)
def folder(own_cache: str) -> Iterator[str]:
    forget()
    yield own_cache
    forget()


def forget() -> None:
    """What a new process does not know."""
    graph_cache.clear()
    kernel_cache.clear()


@pytest.fixture
def chosen() -> Iterator[dict[UOp, Placement]]:
    """Placements that a search is told to find, by region; what is not here is an error."""
    placements: dict[UOp, Placement] = {}

    def find(regions: Mapping[UOp, int], *_: Any) -> tuple[dict[UOp, Result], int]:
        found = {region: Result(placements[region], 1.0, True) for region in regions}
        return found, len(regions)

    with placement_cache.searching_by(find):
        yield placements


def random(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32))


PROGRAMS: dict[str, Callable[[], Tensor]] = {
    "product": lambda: random(70, 50) @ random(50, 90),
    "softmax": lambda: random(40, 70).softmax(-1),
    "sum of columns": lambda: random(90, 70).sum(0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_differ_by_the_order_of_sums_at_most(name: str) -> None:
    plain = PROGRAMS[name]().realize()
    searched = PROGRAMS[name]().realize(config=BEAM)
    np.testing.assert_allclose(searched.numpy(), plain.numpy(), rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(70, 50), (33, 129)])
def test_results_are_equal_where_no_sum_is_rounded(shape: tuple[int, int]) -> None:
    x = data(*shape)
    wanted = x.numpy().astype(np.float64)
    product, columns = x @ x.T, x.amax(0)
    Tensor.realize_batch([product, columns], config=BEAM)
    np.testing.assert_array_equal(product.numpy(), wanted @ wanted.T)
    np.testing.assert_array_equal(columns.numpy(), wanted.max(0))


def test_it_is_off_by_default() -> None:
    with Count() as change:
        PROGRAMS["softmax"]().realize()
    assert change["kernels_searched"] == 0


def test_a_second_run_and_a_second_process_do_no_search() -> None:
    with Count() as first:
        before = PROGRAMS["product"]().realize(config=BEAM).numpy()
    assert first["kernels_searched"] > 0
    with Count() as second:
        PROGRAMS["product"]().realize(config=BEAM)
    assert second["kernels_searched"] == second["kernels_compiled"] == 0
    forget()
    with Count() as third:
        after = PROGRAMS["product"]().realize(config=BEAM).numpy()
    assert third["kernels_searched"] == third["kernels_compiled"] == 0
    assert third["schedule_disk_hits"] == 1
    np.testing.assert_array_equal(before, after)


def test_another_graph_with_the_same_kernel_does_no_search() -> None:
    x = random(40, 70)
    x.softmax(-1).realize(config=BEAM)
    forget()
    with Count() as change:
        Tensor.realize_batch([random(40, 70).softmax(-1), random(5) + 1], config=BEAM)
    assert change["kernels_searched"] == 1


def test_a_wider_beam_is_another_search() -> None:
    with Count() as change:
        random(900).exp().realize(config=Config(search=Beam(1, 0.5)))
        random(900).exp().realize(config=Config(search=Beam(3, 0.5)))
    assert change["kernels_searched"] == 2


def test_without_the_disk_results_are_kept_in_memory() -> None:
    config = Config(search=Beam(2, 0.5), disk_cache=False)
    with Count() as change:
        random(900).exp().realize(config=config)
        (random(900).exp() + 0).realize(config=config)
        random(900).exp().realize(config=config)
    assert change["kernels_searched"] <= 2


def kernel_for(region: UOp) -> Kernel:
    disk = disk_for(BEAM)
    assert disk is not None
    placement_cache.search([region], TARGET, BEAM, disk)
    entries: list[Any] = []
    (kernel,) = kernel_cache.kernels_for(
        [region], find_device("CPU"), TARGET, BEAM, disk, entries
    )
    disk.write(entries, BEAM)
    return kernel


def test_a_chosen_placement_is_what_runs(chosen: dict[UOp, Placement]) -> None:
    region = region_of(data(64, 100).sum(-1))
    chosen[region] = Placement({1: 8}, {1: 2}, (0,), 1)
    assert kernel_for(region).axes == (
        ("parallel", 64), ("loop", 7), ("upcast", 2), ("lane", 8),
    )  # fmt: skip


def test_the_placement_is_part_of_the_kernels_key(chosen: dict[UOp, Placement]) -> None:
    region = region_of(data(64, 100).sum(-1))
    chosen[region] = Placement({1: 8}, {}, (0,), 1)
    narrow = kernel_for(region)
    forget()
    chosen[region] = Placement({1: 16}, {}, (0,), 1)
    wide = kernel_for(region)
    forget()
    chosen[region] = Placement({1: 8}, {}, (0,), 1)
    with Count() as change:
        again = kernel_for(region)
    assert narrow.axes == again.axes != wide.axes
    assert change["kernels_compiled"] == 0
    key = make_key(b"kernel")
    assert placed_key(key, None) == key
    assert placed_key(key, chosen[region]) != placed_key(key, Placement({1: 16}, {}, (0,), 1))


def test_a_placement_of_another_kernel_is_not_used(chosen: dict[UOp, Placement]) -> None:
    region = region_of(data(64, 100).sum(-1))
    chosen[region] = Placement({7: 8}, {}, (0,), 1)
    assert kernel_for(region).axes


@pytest.mark.parametrize("packed_is_faster", [True, False])
def test_operands_are_packed_if_that_is_faster(packed_is_faster: bool) -> None:
    def build() -> Tensor:
        return random(64, 48) @ random(48, 144)

    packed, plain = [
        len(build().prepare(config=Config(pack_operands=pack)).kernels) for pack in (True, False)
    ]
    assert packed > plain == 1
    unpacked = region_of(build())

    def timed(*arguments: Any) -> tuple[dict[UOp, Result], int]:
        found, searched = search_placements(*arguments)
        for region, result in found.items():
            taken = 1.0 if (region is not unpacked) is packed_is_faster else 5.0
            found[region] = dataclasses.replace(result, taken=taken)
        return found, searched

    y = build()
    with placement_cache.searching_by(timed):
        plan = y.prepare(config=Config(search=Beam(1, 0.2)))
    assert len(plan.kernels) == (packed if packed_is_faster else plain)
    np.testing.assert_allclose(y.numpy(), build().numpy(), rtol=1e-4, atol=1e-5)


def test_what_was_found_is_kept_at_once_by_width_but_not_by_seconds() -> None:
    region = region_of(data(64, 100).sum(-1))
    results = search_module._Results(disk_for(BEAM), TARGET, BEAM)
    results.put(region, b"found")
    assert search_module._Results(disk_for(BEAM), TARGET, BEAM).get(region) == b"found"
    wider = Config(search=Beam(3, 1.5))
    assert search_module._Results(disk_for(wider), TARGET, wider).get(region) is None
    longer = Config(search=Beam(2, 60.0))
    assert search_module._Results(disk_for(longer), TARGET, longer).get(region) == b"found"


def test_an_interrupted_search_can_be_repeated() -> None:
    def interrupt(*_: Any) -> tuple[dict[UOp, Result], int]:
        raise KeyboardInterrupt

    x = random(900)
    y = x.exp()
    with placement_cache.searching_by(interrupt), pytest.raises(KeyboardInterrupt):
        y.realize(config=BEAM)
    np.testing.assert_allclose(y.realize(config=BEAM).numpy(), np.exp(x.numpy()), rtol=1e-6)


def test_the_search_is_part_of_every_key() -> None:
    keys = {
        Config(search=search).code_key for search in (None, Beam(2, 1), Beam(4, 1), Beam(2, 9))
    }
    assert len(keys) == 4


@pytest.mark.parametrize(
    ("width", "seconds"), [(0, 1), (-1, 1), (1.5, 1), ("4", 1), (True, 1), (4, 0), (4, -1),
    (4, "10"), (4, float("inf")), (4, float("nan"))]
)  # fmt: skip
def test_a_senseless_beam_is_refused(width: Any, seconds: Any) -> None:
    with raises(ConfigError, match="beam"):
        Beam(width, seconds)


@pytest.mark.parametrize("value", [4, "4", (4, 10), Config])
def test_a_search_must_be_a_beam(value: Any) -> None:
    with raises(ConfigError, match="'search' takes a value of type Beam or Graph or None"):
        Config(search=value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4", "Beam(width=4, seconds=10.0)"), ("2,0.5", "Beam(width=2, seconds=0.5)"),
     ("0", "None"), ("", "None")],
)  # fmt: skip
def test_the_environment_asks_for_a_search(text: str, expected: str) -> None:
    assert configured(text).stdout.strip() == expected


@pytest.mark.parametrize("text", ["wide", "-1", "4,soon"])
def test_a_senseless_environment_is_refused(text: str) -> None:
    assert f"OGIVE_BEAM={text!r}" in configured(text).stderr


def configured(text: str) -> subprocess.CompletedProcess[str]:
    program = "from ogive.config import current_config; print(current_config().search)"
    return subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "OGIVE_BEAM": text},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_beam_has_a_place_in_the_package() -> None:
    assert ogive.Beam is Beam
