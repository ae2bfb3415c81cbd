"""`torch.utils.hooks`: handles of hooks, for programs that have hooks of their own."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import MutableMapping
from typing import Any

__all__ = ["RemovableHandle"]

_numbers = itertools.count()


class RemovableHandle:
    """The handle of a hook that a dictionary holds under `id`. `remove()` removes it.

    >>> import collections
    >>> hooks = collections.OrderedDict()
    >>> handle = RemovableHandle(hooks)
    >>> hooks[handle.id] = print
    >>> handle.remove()
    >>> len(hooks)
    0
    """

    def __init__(self, hooks_dict: MutableMapping[int, Any], *, extra_dict: Any = None) -> None:
        extra = extra_dict if isinstance(extra_dict, list) else [extra_dict]
        held = [hooks_dict, *[each for each in extra if each is not None]]
        self._places = [weakref.ref(each) for each in held]
        self.id = next(_numbers)

    def remove(self) -> None:
        """Remove the hook from its dictionary."""
        for place in self._places:
            hooks = place()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()
