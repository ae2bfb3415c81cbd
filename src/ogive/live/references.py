"""How many references an object has: whether somebody could still read what it stands for.

Memory whose node nobody refers to can be written over, and the node be used again with all that was
worked out for it. Only the count of references tells at once: a weak reference tells when an object
is gone, which is too late, and holders that are registered one by one cost each operation more than
new memory does.

The counts are exact where they are asked for. Python counts under one lock (without it this module
counts nothing, and nothing is used again). A new reference comes from an old one: from a variable,
a tensor, a node above, a run that goes on, all of which are in the count. The weak references of
the registry are followed under `graph_lock` only, and what is found so is let go before the lock
is. So an object that has as many references as its owner itself holds is nobody else's, and stays
so until the owner hands it out; a reference too many, of a debugger say, only means new memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

count_references: Callable[[Any], int] | None = getattr(sys, "getrefcount", None)
"""The references to its argument, which is one of them; None where nobody can tell."""

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    count_references = None  # counts are kept by each thread, and nobody's is the whole
