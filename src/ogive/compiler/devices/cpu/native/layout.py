"""The structures that Python and the native driver share: a plan's header, a step, the pool.

All fields are 8-byte words. `WORDS` has the byte offset of each field by its name in the driver's
IR (`$step_tiles`).
"""

from __future__ import annotations

import enum
import itertools

from ogive.compiler.devices.step_records import STEP_FIELDS
from ogive.config import MOST_THREADS

COPY_TILE_BITS = 16
COPY_TILE = 1 << COPY_TILE_BITS
"""Bytes in one tile of `ogive_copy`."""

EXPORTS = ("ogive_start", "ogive_resume", "ogive_copy", "ogive_run_parts", "ogive_resize_pool")
"""The driver's entry points."""

MAX_WORKERS = MOST_THREADS - 1
"""The most workers for which the pool has room, beside the thread that runs a plan."""

MAX_THREADS = MAX_WORKERS + 1
NO_FAULT = 2**63 - 1
"""The fault word of a plan without a fault (`INT64_MAX`)."""

SITE_BITS = 32
"""While a group runs, the fault word has the site in these low bits and the step above them."""


class StepKind(enum.IntEnum):
    """How the driver runs a step."""

    SERIAL = 0  # a kernel, on the calling thread alone
    PARALLEL = 1  # a kernel whose tiles the pool may share
    HOST = 2  # return to Python, which runs the step and resumes
    LEADER = 3  # a kernel, the first of a group that the pool may run concurrently
    BATCH = 4  # a kernel, the first of several that their device runs in one call


class Status(enum.IntEnum):
    """Why the driver returned."""

    FINISHED = 0
    PAUSED = 1  # the time budget is spent; the header says where to resume
    FAULTED = 2  # `plan_step` and `plan_fault` say where; later steps did not run
    HOST = 3  # Python must run step `plan_step - 1`


PLAN_FIELDS = (
    "steps",  # address of the first step record
    "count",
    "pool",  # address of the pool, or 0
    "budget",  # nanoseconds after which to pause
    "step",  # the next step to run, `count` after the last ...
    "left",  # ... and how many spans still have tiles of it, 0 if it has not begun
    "spans",  # address of the spans: two words each, the next tile and the end
    "room",  # the most spans
    "fault",  # the least site number that faulted, or NO_FAULT
)
PART_FIELDS = (
    "record",  # the record of the step
    "number",  # the number of the step
    "begin",  # the first tile ...
    "end",  # ... and the end of its tiles
)
# Fields that different threads write are kept on different cache lines.
POOL_FIELDS = (
    ("state", 8),  # the workers inside, and the job that they may enter: see below
    ("job", 8),
    ("busy", 1),  # taken by the caller whose job it is, or by `resize`
    ("wanted", 1),  # the wanted number of workers
    ("workers", 1),  # the present number of workers
    ("numbers", 1),  # how many of them have taken a number
    ("sleepers", 1),
    ("process", 1),  # the process that started the workers
    ("called", 1),  # when a sleeper was last woken ...
    ("waking", 1),  # ... and the average time until it works, in nanoseconds
    ("missed", 1),  # how long threads have lately worked while others slept ...
    ("ended", 1),  # ... and when that ended
    ("excluded", 6),  # one more than the processor that workers must avoid, 0 for none
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
    "count",  # the number of spans
    "parts",  # the least number of claims in a span
    "threads",  # the most threads that may work on it, the caller included
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
