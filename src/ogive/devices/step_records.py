"""The record of a step in a native plan: what the host's driver walks, and batches of steps read.

All fields are 8-byte words, and records lie one behind the other.
"""

from __future__ import annotations

STEP_FIELDS = (
    "kernel",  # void (arguments, begin, end, fault)
    "arguments",  # address of its words: buffer addresses, then variables
    "tiles",
    "grain",  # the least number of tiles worth a call
    "threads",  # the most that are worth waking for it, the caller included
    "kind",
    "group",  # of a first step: the address of its group's record; of that: how many it has
)

STEP_WORDS = len(STEP_FIELDS)
