"""Changes that no exception can divide.

Python may raise what the handler of a signal raises, or what another thread sends, between any two
of its own instructions, but never inside a function that is written in C. What has to change
together is therefore listed first, and then stored by one call of C code.

    before   a.node, b.node = old, old      at_once([(a, "node", new), (b, "node", new)])
    after    a.node, b.node = new, new

Whoever lists the changes keeps what they replace alive until they are done: the end of an object
may run Python.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import starmap
from typing import Any

Change = tuple[Any, str, Any]
"""An object, the name of one of its attributes, and its new value."""


def at_once(changes: Iterable[Change]) -> None:
    """Store new values in attributes, all of them or none. The attributes are plain ones."""
    deque(starmap(setattr, changes), maxlen=0)
