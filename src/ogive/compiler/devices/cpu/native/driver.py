"""The native driver of this process: assembled once for a target, loaded once, never unloaded."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING

from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.native.layout import EXPORTS
from ogive.compiler.devices.cpu.native.link import LoadedKernel, link_library
from ogive.compiler.devices.llvm_gate import llvm_gate
from ogive.named import NamedTuple

if TYPE_CHECKING:
    from ogive.compiler.targets.target import Target

_PlanFunction = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_ResizeFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)


class Driver(NamedTuple):
    """The driver's entry points. Calling one releases the interpreter lock."""

    start: Callable[[int], int]
    resume: Callable[[int], int]
    resize_pool: Callable[[int, int], None]
    copy: LoadedKernel
    run_parts: LoadedKernel


def driver_object(target: Target) -> bytes:
    """The driver's object code for a target, which is always the same."""
    from ogive.compiler.devices.cpu.native.driver_ir import driver_ir
    from ogive.compiler.devices.llvm.library.assembler import assemble

    return assemble(driver_ir(target), target, effort=0)


class ProcessDriver:
    """The driver of this process. Once loaded it stays."""

    def __init__(self) -> None:
        self._driver: Driver | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether it is loaded."""
        return self._driver is not None

    def load(self, object_bytes: bytes) -> Driver:
        """The driver, loaded from this object code unless it is loaded already."""
        with llvm_gate.lock:
            if self._driver is None:
                library = link_library(object_bytes, EXPORTS)
                self._driver = Driver(
                    start=_PlanFunction(library["ogive_start"].address),
                    resume=_PlanFunction(library["ogive_resume"].address),
                    resize_pool=_ResizeFunction(library["ogive_resize_pool"].address),
                    copy=library["ogive_copy"],
                    run_parts=library["ogive_run_parts"],
                )
            return self._driver

    def get(self) -> Driver:
        """The driver, assembled now if it was not loaded from a cache."""
        return self._driver or self.load(driver_object(host_target()))


process_driver = ProcessDriver()
