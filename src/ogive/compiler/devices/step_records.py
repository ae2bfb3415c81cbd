"""The fields of a step's record in a native plan, which the host's driver and batches read.

All fields are 8-byte words, and records are contiguous.
"""

from __future__ import annotations

STEP_FIELDS = (
    "kernel",  # void (arguments, begin, end, fault)
    "arguments",  # address of its words: buffer addresses, then variables
    "tiles",
    "grain",  # the least number of tiles worth a call
    "threads",  # the most threads worth waking for it, the caller included
    "kind",
    "group",  # in a first step: the address of its group's record; in that: the number of steps
)

STEP_WORDS = len(STEP_FIELDS)
