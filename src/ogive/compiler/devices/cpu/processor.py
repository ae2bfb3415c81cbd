"""The processor that all CPU devices of a process share: its target, its threads, its programs.

It is imported with the first plan, since a process that only makes tensors does not need it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ogive.compiler.devices.cpu import host
from ogive.compiler.devices.cpu.host_machine import host_machine
from ogive.compiler.devices.cpu.machine_speeds import machine_speeds
from ogive.compiler.devices.cpu.native.link import LoadedKernel, link
from ogive.compiler.devices.cpu.native.native_plan import NativePlan
from ogive.compiler.devices.cpu.native.pool import Pool, default_pool
from ogive.compiler.devices.cpu.speeds import Speeds
from ogive.compiler.devices.protocol import DeviceStep
from ogive.config import Config

if TYPE_CHECKING:
    from ogive.compiler.targets.target import Target


class Processor:
    """The part of `CpuDevice` that deals with code and threads."""

    def __init__(self) -> None:
        self._make_plan: Callable[[Sequence[DeviceStep], Pool], NativePlan] = NativePlan

    @contextlib.contextmanager
    def binding_by(
        self, make_plan: Callable[[Sequence[DeviceStep], Pool], NativePlan]
    ) -> Iterator[None]:
        """Inside, `make_plan` makes the plans that steps are bound to."""
        before, self._make_plan = self._make_plan, make_plan
        try:
            yield
        finally:
            self._make_plan = before

    def target(self, config: Config) -> Target:
        return host_machine.target_for(config)

    def target_key(self, config: Config) -> str:
        return host_machine.target_key(config)

    def confirmed_target(self, config: Config) -> Target:
        return host_machine.confirmed_target(config)

    def load(self, name: str, code: bytes) -> LoadedKernel:
        return link(code, name)

    def prepare(self, config: Config) -> None:
        host_machine.begin_driver(config)

    def pool(self, config: Config) -> Pool:
        host_machine.ensure_driver(config)
        pool = _pool_of(config.threads)
        machine_speeds.know(config, pool)
        return pool

    def bind(self, steps: Sequence[DeviceStep], pool: object) -> NativePlan:
        assert isinstance(pool, Pool), "pools are from `pool`"
        return self._make_plan(steps, pool)

    def speeds(self) -> Speeds:
        return machine_speeds.current()

    def stored_speeds(self, config: Config) -> Speeds | None:
        return machine_speeds.stored(config)

    def measure_speeds(self, config: Config) -> Speeds | None:
        host_machine.ensure_driver(config)
        return machine_speeds.measure(config)

    def cores(self) -> int:
        return host.host_cores()


@functools.lru_cache(maxsize=16)
def _pool_of(threads: int) -> Pool:
    return Pool(threads) if threads else default_pool()


processor = Processor()
