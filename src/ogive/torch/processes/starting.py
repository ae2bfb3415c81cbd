"""`torch.multiprocessing`: the standard library's module, with `spawn`."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing import (
    Array,
    Barrier,
    Event,
    Lock,
    Manager,
    Pipe,
    Pool,
    Process,
    Queue,
    SimpleQueue,
    Value,
    cpu_count,
    current_process,
    freeze_support,
    get_context,
    get_start_method,
    set_start_method,
)
from typing import Any

from ogive.errors import StateError

__all__ = [
    "Array", "Barrier", "Event", "Lock", "Manager", "Pipe", "Pool", "Process", "ProcessContext",
    "Queue", "SimpleQueue", "Value", "cpu_count", "current_process", "freeze_support",
    "get_all_sharing_strategies", "get_context", "get_sharing_strategy", "get_start_method",
    "set_sharing_strategy", "set_start_method", "spawn", "start_processes",
]  # fmt: skip


class ProcessContext:
    """Processes that were started together."""

    def __init__(self, processes: list[Any]) -> None:
        self.processes = processes

    def pids(self) -> list[int]:
        """The ids of the processes."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None) -> bool:
        """Wait for all processes. Raises `StateError` if one has failed."""
        for number, process in enumerate(self.processes):
            process.join(timeout)
            if process.exitcode not in (0, None):
                raise StateError(f"process {number} terminated with exit code {process.exitcode}")
        return all(process.exitcode == 0 for process in self.processes)


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(number, *args)` in `nprocs` processes. Each gets copies of the tensors."""
    context: Any = multiprocessing.get_context(start_method)
    processes = [
        context.Process(target=fn, args=(number, *args), daemon=daemon) for number in range(nprocs)
    ]
    for process in processes:
        process.start()
    started = ProcessContext(processes)
    if not join:
        return started
    started.join()
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Call `start_processes` with new interpreters."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)


def get_all_sharing_strategies() -> set[str]:
    """The ways in which tensors are sent to other processes. Here they are copied."""
    return {"file_system"}


def get_sharing_strategy() -> str:
    """The way in which tensors are sent to other processes. Here they are copied."""
    return "file_system"


def set_sharing_strategy(new_strategy: str) -> None:
    """Do nothing: tensors are always copied to other processes."""
