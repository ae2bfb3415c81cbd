"""The test kernels, assembled and loaded once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.native.link import Library, link_library
from ogive.compiler.devices.cpu.native.pool import Pool
from ogive.compiler.devices.llvm.library.assembler import assemble

KERNELS = Path(__file__).with_name("kernels.ll")


@pytest.fixture(scope="session")
def kernels() -> Library:
    symbols = ("count", "slow_count", "append", "fail_from", "identify")
    return link_library(assemble(KERNELS.read_text(), host_target()), symbols)


@pytest.fixture
def make_pool() -> Iterator[Callable[[int], Pool]]:
    pools: list[Pool] = []

    def make(threads: int) -> Pool:
        pools.append(Pool(threads))
        return pools[-1]

    yield make
    for pool in pools:
        pool.set_threads(1)
