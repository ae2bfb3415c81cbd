"""Groups of changes that no exception can divide.

Python may raise an exception of a signal handler, or one that another thread sends, between any two
of its own instructions, but never inside a function written in C. So changes that belong together
are listed first, and then stored by one call of C code.

    before   a.node, b.node = old, old      at_once([(a, "node", new), (b, "node", new)])
    after    a.node, b.node = new, new

The caller keeps the replaced values alive until the changes are made, because freeing an object may
run Python code.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import starmap
from typing import Any

Change = tuple[Any, str, Any]
"""An object, the name of one of its attributes, and its new value."""


def at_once(changes: Iterable[Change]) -> None:
    """Store new values in attributes, all of them or none. They must be plain attributes."""
    deque(starmap(setattr, changes), maxlen=0)
