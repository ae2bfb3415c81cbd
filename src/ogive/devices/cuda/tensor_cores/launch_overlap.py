"""Launches that overlap: a kernel may begin while the one before it ends, and waits by itself."""

from __future__ import annotations

from ogive.devices.cuda.tensor_cores.kernel_text import KernelText


def wait_for_earlier_kernels(text: KernelText) -> None:
    """Nothing in memory is read or written before: a launch may overlap the end of the one before
    it (programmatic dependent launch), and prepare itself meanwhile."""
    text.assembly("griddepcontrol.wait;", [], [])


def let_later_kernels_begin(text: KernelText) -> None:
    """The next launch may take the multiprocessors that have no block left to begin."""
    text.assembly("griddepcontrol.launch_dependents;", [], [])
