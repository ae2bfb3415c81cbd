"""The structures that Python and the native driver share: a plan's header, a step, the pool.

All fields are 8-byte words. `WORDS` gives each field's byte offset by the name under which the
driver's IR mentions it (`$step_tiles`).
"""

from __future__ import annotations

import enum
import itertools

from ogive.config import MOST_THREADS
from ogive.devices.step_records import STEP_FIELDS

COPY_TILE_BITS = 16
COPY_TILE = 1 << COPY_TILE_BITS
"""Bytes in one tile of `ogive_copy`."""

EXPORTS = ("ogive_start", "ogive_resume", "ogive_copy", "ogive_run_parts", "ogive_resize_pool")
"""What the driver is called by."""

MAX_WORKERS = MOST_THREADS - 1
"""The pool has room for the handles of so many threads, beside the one that runs a plan."""

MAX_THREADS = MAX_WORKERS + 1
NO_FAULT = 2**63 - 1
"""The fault word of a plan in which nothing went wrong (`INT64_MAX`)."""

SITE_BITS = 32
"""While a group runs, the fault word has the step above these bits and the site in them."""


class StepKind(enum.IntEnum):
    """How a step is run."""

    SERIAL = 0  # a kernel, on the calling thread alone
    PARALLEL = 1  # a kernel whose tiles the pool may share
    HOST = 2  # return to Python, which does the step and resumes
    LEADER = 3  # a kernel, the first of a group that the pool may run side by side
    BATCH = 4  # a kernel, the first of several that their device does in one call


class Status(enum.IntEnum):
    """Why the driver returned."""

    FINISHED = 0
    PAUSED = 1  # the time budget is spent; the header says where to resume
    FAULTED = 2  # `plan_step` and `plan_fault` tell where; later steps did not run
    HOST = 3  # step `plan_step - 1` is Python's to do


PLAN_FIELDS = (
    "steps",  # address of the first step record
    "count",
    "pool",  # address of the pool, or 0
    "budget",  # nanoseconds after which to pause
    "step",  # the next step to run, `count` after the last ...
    "left",  # ... and how many spans have tiles of it that were not yet run, 0 if it is not begun
    "spans",  # address of the spans: two words each, the next tile and the first behind the end
    "room",  # how many of them there may be
    "fault",  # the least site number that faulted, or NO_FAULT
)
PART_FIELDS = (
    "record",  # the step's
    "number",  # the step's, too
    "begin",  # the first of the tiles ...
    "end",  # ... and the first that is not its own
)
# Fields that different threads write are kept on different cache lines.
POOL_FIELDS = (
    ("state", 8),  # who is inside, and what there is to enter: see below
    ("job", 8),
    ("busy", 1),  # taken by the caller whose job it is, or by `resize`
    ("wanted", 1),  # how many workers there should be
    ("workers", 1),  # how many there are
    ("numbers", 1),  # how many have taken a number
    ("sleepers", 1),
    ("process", 1),  # the process that started them
    ("called", 1),  # when a sleeper was last called ...
    ("waking", 1),  # ... and how long they take to come, in nanoseconds, on average
    ("missed", 1),  # how long threads have lately worked while others slept ...
    ("ended", 1),  # ... until when
    ("excluded", 6),  # one more than the processor that workers are kept off, 0 if there is none
    ("mutex", 8),
    ("condition", 8),
    ("handles", MAX_WORKERS),
)
# The parts of the pool's state, from its lowest bit up: the workers inside, whether the job is
# open, whether workers are to stop, how many more may enter, and the job's number.
OPEN_BIT, STOP_BIT, SEAT_BITS, NUMBER_BITS = 16, 17, 18, 28
JOB_FIELDS = (
    "kernel",  # of the step, ...
    "arguments",
    "grain",
    "fault",  # ... and of its plan the address of the fault word, ...
    "spans",  # ... and of the spans that its tiles are in
    "count",  # how many spans there are
    "parts",  # how many claims a span is worth at least
    "threads",  # how many may work on it, the caller included
)

PART_WORDS = len(PART_FIELDS)
POOL_BYTES = 8 * sum(words for _, words in POOL_FIELDS)


def _offsets() -> dict[str, int]:
    offsets = {f"plan_{name}": 8 * index for index, name in enumerate(PLAN_FIELDS)}
    offsets |= {f"step_{name}": 8 * index for index, name in enumerate(STEP_FIELDS)}
    offsets |= {f"part_{name}": 8 * index for index, name in enumerate(PART_FIELDS)}
    starts = itertools.accumulate((8 * words for _, words in POOL_FIELDS), initial=0)
    offsets |= {
        f"pool_{name}": start for (name, _), start in zip(POOL_FIELDS, starts, strict=False)
    }
    return offsets | {f"job_{name}": 8 * index for index, name in enumerate(JOB_FIELDS)}


WORDS = _offsets()
