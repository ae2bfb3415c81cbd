"""Programmatic dependent launch: a kernel begins while the previous one ends, and waits itself."""

from __future__ import annotations

from ogive.compiler.devices.cuda.tensor_cores.kernel_text import KernelText


def wait_for_earlier_kernels(text: KernelText) -> None:
    """Write the wait for earlier kernels. Memory is accessed only after it; code before it
    overlaps the end of the previous kernel."""
    text.assembly("griddepcontrol.wait;", [], [])


def let_later_kernels_begin(text: KernelText) -> None:
    """Let the next launch begin on multiprocessors that have no more blocks to start."""
    text.assembly("griddepcontrol.launch_dependents;", [], [])
