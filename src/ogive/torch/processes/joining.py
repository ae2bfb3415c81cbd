"""`torch.distributed.algorithms.join`: processes with different numbers of batches."""

from __future__ import annotations

from typing import Any

from ogive.torch.processes.process_groups import refuse_several

__all__ = ["Join"]


class Join:
    """A context without effect in one process. Raises `DeviceError` if there are several.

    >>> with Join([]):
    ...     pass
    """

    def __init__(self, joinables: Any, enable: bool = True, **options: Any) -> None:
        if enable:
            refuse_several("Join")

    def __enter__(self) -> Join:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing."""
