"""Counts of references, which show whether anything could still read an object.

If nothing else refers to a buffer node, its memory may be overwritten, and the node may be used
again with all that is known about it. Only the count of references shows that in time. A weak
reference tells when an object is gone, which is too late. Registering every holder would cost each
operation more than new memory does.

The counts are exact where they are used. Python counts under one lock; without that lock this
module counts nothing, and no node is used again. A new reference can only be made from an old one:
a variable, a tensor, a node above, or a run in progress, and all of these are in the count. The
weak references of the registry are followed only under `graph_lock`, and the objects found so are
dropped before the lock is released. So if an object has as many references as its owner holds,
nothing else has one, and that stays so until the owner gives it away. A reference too many, of a
debugger for example, only means that new memory is used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

count_references: Callable[[Any], int] | None = getattr(sys, "getrefcount", None)
"""The number of references to its argument, itself included; None if counts are not exact."""

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    count_references = None  # each thread has a count of its own, and none is the total
