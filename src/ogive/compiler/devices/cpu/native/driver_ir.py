"""The driver that walks a plan's steps, as LLVM IR.

`ogive_start(plan)` runs a plan from its first step, `ogive_resume(plan)` from where it paused; both
return a `Status`. `ogive_copy` is a kernel that copies memory, `ogive_run_parts` one that runs
parts of other steps, and `ogive_resize_pool` (`worker_ir.py`) sets the number of workers.

The driver returns to Python after the plan's time budget, at a tile boundary. It reads the clock
after each claim of a long step, and after a number of short steps: one at first, then up to sixteen
as long as they prove to be short. A plan of one short step never reads it.

Steps that may run concurrently are a group. It is one job for the pool, whose kernel is
`ogive_run_parts` and whose tiles are parts: a step, or some tiles of one. A group is short, and is
not interrupted. If the pool is busy, its steps run one by one.

Steps that another device runs in one call are a batch, whose record has the function to call.
"""

from __future__ import annotations

from string import Template

from ogive.compiler.devices.cpu.native.claims_ir import LONG_STEP
from ogive.compiler.devices.cpu.native.layout import (
    COPY_TILE_BITS,
    NO_FAULT,
    NUMBER_BITS,
    OPEN_BIT,
    PART_WORDS,
    SEAT_BITS,
    SITE_BITS,
    STOP_BIT,
    WORDS,
    Status,
    StepKind,
)
from ogive.compiler.devices.cpu.native.platform_ir import platform_ir
from ogive.compiler.devices.cpu.native.pool_ir import SHARE
from ogive.compiler.devices.cpu.native.worker_ir import WORKERS
from ogive.compiler.devices.step_records import STEP_WORDS
from ogive.compiler.targets.target import Target


def driver_ir(target: Target) -> str:
    """The whole driver for one target."""
    parts = [_RUN, LONG_STEP, _COPY, _PARTS, platform_ir(target), SHARE, WORKERS]
    constants = {
        "no_fault": NO_FAULT,
        "step_bytes": 8 * STEP_WORDS,
        "part_bytes": 8 * PART_WORDS,
        "site_bits": SITE_BITS,
        "site_mask": (1 << SITE_BITS) - 1,
        "copy_tile_bits": COPY_TILE_BITS,
        "open_bit": 1 << OPEN_BIT,
        "stop_bit": 1 << STOP_BIT,
        "inside_mask": (1 << OPEN_BIT) - 1,
        "seat_bits": SEAT_BITS,
        "seat_mask": (1 << NUMBER_BITS - SEAT_BITS) - 1,
        "number_bits": NUMBER_BITS,
        "short_steps": 100_000,
        "short_claim": 250_000,
        "long_claim": 1_000_000,
        "spin": 50_000,
        "worth_waking": 20_000,
        "longest_waking": 250_000,
    }
    constants |= {f"status_{status.name.lower()}": status for status in Status}
    constants |= {f"kind_{kind.name.lower()}": kind for kind in StepKind}
    texts = {name: str(int(value)) for name, value in (WORDS | constants).items()}
    return Template("\n".join(parts)).substitute(texts)


_RUN = """
define i64 @ogive_start(ptr %plan) nounwind {
  %step.at = getelementptr i8, ptr %plan, i64 $plan_step
  %left.at = getelementptr i8, ptr %plan, i64 $plan_left
  %fault.at = getelementptr i8, ptr %plan, i64 $plan_fault
  store i64 0, ptr %step.at
  store i64 0, ptr %left.at
  store i64 $no_fault, ptr %fault.at
  %status = tail call i64 @ogive_resume(ptr %plan)
  ret i64 %status
}

; Kernels run with the default rounding and denormals whatever the caller has set, since workers
; do, and results must not depend on who runs what.
define i64 @ogive_resume(ptr %plan) nounwind {
  %mode = call i64 @enter_float_mode()
  %status = call i64 @walk_steps(ptr %plan)
  call void @leave_float_mode(i64 %mode)
  ret i64 %status
}

define internal i64 @walk_steps(ptr %plan) nounwind {
entry:
  %deadline = alloca i64                 ; 0 until the clock is first read
  store i64 0, ptr %deadline
  %steps.at = getelementptr i8, ptr %plan, i64 $plan_steps
  %count.at = getelementptr i8, ptr %plan, i64 $plan_count
  %step.at = getelementptr i8, ptr %plan, i64 $plan_step
  %left.at = getelementptr i8, ptr %plan, i64 $plan_left
  %fault.at = getelementptr i8, ptr %plan, i64 $plan_fault
  %steps = load ptr, ptr %steps.at
  %count = load i64, ptr %count.at
  %first.step = load i64, ptr %step.at
  %first.left = load i64, ptr %left.at
  br label %walk

walk:
  %step = phi i64 [ %first.step, %entry ], [ %step.next, %done ], [ %step.next, %looked ]
  %left = phi i64 [ %first.left, %entry ], [ 0, %done ], [ 0, %looked ]
  %credit = phi i64 [ 1, %entry ], [ %credit.next, %done ], [ %period.next, %looked ]
  %period = phi i64 [ 1, %entry ], [ %period, %done ], [ %period.next, %looked ]
  %last = phi i64 [ 0, %entry ], [ %last, %done ], [ %now, %looked ]
  %more = icmp ult i64 %step, %count
  br i1 %more, label %examine, label %finished

examine:
  %offset = mul i64 %step, $step_bytes
  %record = getelementptr i8, ptr %steps, i64 %offset
  %kind.at = getelementptr i8, ptr %record, i64 $step_kind
  %tiles.at = getelementptr i8, ptr %record, i64 $step_tiles
  %grain.at = getelementptr i8, ptr %record, i64 $step_grain
  %kind = load i64, ptr %kind.at
  %tiles = load i64, ptr %tiles.at
  %grain = load i64, ptr %grain.at
  %is.special = icmp ugt i64 %kind, $kind_parallel
  br i1 %is.special, label %special, label %kernel

special:                                 ; a leader whose step was paused is no leader any more
  %is.host = icmp eq i64 %kind, $kind_host
  %is.begun = icmp ne i64 %left, 0
  br i1 %is.host, label %host, label %several

several:
  %group.at = getelementptr i8, ptr %record, i64 $step_group
  %group = load ptr, ptr %group.at
  %members.at = getelementptr i8, ptr %group, i64 $step_group
  %members = load i64, ptr %members.at
  %is.batch = icmp eq i64 %kind, $kind_batch
  br i1 %is.batch, label %batch, label %leader

batch:                                   ; a step is done by itself where the run ends before them
  %batch.end = add i64 %step, %members
  %is.whole = icmp ule i64 %batch.end, %count
  br i1 %is.whole, label %together, label %kernel

together:
  %batch.kernel.at = getelementptr i8, ptr %group, i64 $step_kernel
  %batch.table.at = getelementptr i8, ptr %group, i64 $step_arguments
  %batch.kernel = load ptr, ptr %batch.kernel.at
  %batch.table = load ptr, ptr %batch.table.at
  call void %batch.kernel(ptr %batch.table, i64 0, i64 1, ptr %fault.at)
  br label %done

leader:
  br i1 %is.begun, label %kernel, label %gather

gather:
  %start = call i64 @clock()
  %shared = call i64 @share_step(
    ptr %plan, ptr %group, i64 0, i64 %start, i64 9223372036854775807)
  %was.shared = icmp sge i64 %shared, 0
  br i1 %was.shared, label %gathered, label %kernel

gathered:
  %first.fault = load i64, ptr %fault.at
  %some.failed = icmp ne i64 %first.fault, $no_fault
  br i1 %some.failed, label %failed, label %done

failed:
  %failed.step = lshr i64 %first.fault, $site_bits
  %failed.site = and i64 %first.fault, $site_mask
  store i64 %failed.step, ptr %step.at
  store i64 %failed.site, ptr %fault.at
  ret i64 $status_faulted

kernel:
  %is.long = icmp sgt i64 %tiles, %grain
  br i1 %is.long, label %long, label %short

short:
  %any = icmp sgt i64 %tiles, 0
  br i1 %any, label %call, label %done

call:
  %kernel.at = getelementptr i8, ptr %record, i64 $step_kernel
  %arguments.at = getelementptr i8, ptr %record, i64 $step_arguments
  %kernel.entry = load ptr, ptr %kernel.at
  %arguments = load ptr, ptr %arguments.at
  call void %kernel.entry(ptr %arguments, i64 0, i64 %tiles, ptr %fault.at)
  br label %done

long:
  %unfinished = call i64 @long_step(ptr %plan, ptr %record, i64 %left, ptr %deadline)
  %partly = icmp ne i64 %unfinished, 0
  br i1 %partly, label %paused, label %done

done:
  %width = phi i64 [ 1, %short ], [ 1, %call ], [ 1, %long ], [ %members, %gathered ],
    [ %members, %together ]
  %site = load i64, ptr %fault.at
  %step.next = add i64 %step, %width
  %credit.next = sub i64 %credit, 1
  %faulty = icmp ne i64 %site, $no_fault
  %spent = icmp eq i64 %credit.next, 0
  %halt = or i1 %faulty, %spent
  br i1 %halt, label %consider, label %walk

consider:
  br i1 %faulty, label %faulted, label %look

look:                                    ; unless there is nothing left to pause before
  %ends = icmp uge i64 %step.next, %count
  br i1 %ends, label %finished, label %read

read:
  %now = call i64 @clock()
  %limit = call i64 @deadline_from(ptr %plan, i64 %now, ptr %deadline)
  %elapsed = sub i64 %now, %last
  %quick = icmp ult i64 %elapsed, $short_steps
  %twice = shl i64 %period, 1
  %longer = call i64 @llvm.umin.i64(i64 %twice, i64 16)
  %period.next = select i1 %quick, i64 %longer, i64 1
  %late = icmp sge i64 %now, %limit
  br i1 %late, label %paused, label %looked

looked:
  br label %walk

finished:
  %finished.step = phi i64 [ %step, %walk ], [ %step.next, %look ]
  store i64 %finished.step, ptr %step.at
  store i64 0, ptr %left.at
  ret i64 $status_finished

paused:
  %paused.step = phi i64 [ %step, %long ], [ %step.next, %read ]
  %paused.left = phi i64 [ %unfinished, %long ], [ 0, %read ]
  store i64 %paused.step, ptr %step.at
  store i64 %paused.left, ptr %left.at
  ret i64 $status_paused

faulted:
  store i64 %step, ptr %step.at
  ret i64 $status_faulted

host:
  %host.next = add i64 %step, 1
  store i64 %host.next, ptr %step.at
  store i64 0, ptr %left.at
  ret i64 $status_host
}

define internal i64 @deadline_from(ptr %plan, i64 %now, ptr %deadline) alwaysinline nounwind {
  %known = load i64, ptr %deadline
  %unset = icmp eq i64 %known, 0
  %budget.at = getelementptr i8, ptr %plan, i64 $plan_budget
  %budget = load i64, ptr %budget.at
  %fresh = add i64 %now, %budget
  %limit = select i1 %unset, i64 %fresh, i64 %known
  store i64 %limit, ptr %deadline
  ret i64 %limit
}

declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
"""

_COPY = """
; A kernel. Its words: destination, source, number of bytes.
define void @ogive_copy(ptr %arguments, i64 %begin, i64 %end, ptr %fault) nounwind {
  %source.at = getelementptr i64, ptr %arguments, i64 1
  %bytes.at = getelementptr i64, ptr %arguments, i64 2
  %destination = load ptr, ptr %arguments
  %source = load ptr, ptr %source.at
  %bytes = load i64, ptr %bytes.at
  %first = shl i64 %begin, $copy_tile_bits
  %last = shl i64 %end, $copy_tile_bits
  %stop = call i64 @llvm.smin.i64(i64 %last, i64 %bytes)
  %length = sub i64 %stop, %first
  %to = getelementptr i8, ptr %destination, i64 %first
  %from = getelementptr i8, ptr %source, i64 %first
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %length, i1 false)
  ret void
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""

_PARTS = """
; A kernel. Its words: parts, of which it runs those from %begin to %end. Each has a fault word of
; its own, so that the first faulting step of the group is known whoever ran what.
define void @ogive_run_parts(ptr %parts, i64 %begin, i64 %end, ptr %fault) nounwind {
entry:
  %own.fault = alloca i64
  br label %loop

loop:
  %index = phi i64 [ %begin, %entry ], [ %index.next, %next ]
  %offset = mul i64 %index, $part_bytes
  %part = getelementptr i8, ptr %parts, i64 %offset
  %record.at = getelementptr i8, ptr %part, i64 $part_record
  %first.at = getelementptr i8, ptr %part, i64 $part_begin
  %last.at = getelementptr i8, ptr %part, i64 $part_end
  %record = load ptr, ptr %record.at
  %first = load i64, ptr %first.at
  %last = load i64, ptr %last.at
  %kernel.at = getelementptr i8, ptr %record, i64 $step_kernel
  %arguments.at = getelementptr i8, ptr %record, i64 $step_arguments
  %kernel = load ptr, ptr %kernel.at
  %arguments = load ptr, ptr %arguments.at
  store i64 $no_fault, ptr %own.fault
  call void %kernel(ptr %arguments, i64 %first, i64 %last, ptr %own.fault)
  %site = load i64, ptr %own.fault
  %failed = icmp ne i64 %site, $no_fault
  br i1 %failed, label %report, label %next

report:
  %number.at = getelementptr i8, ptr %part, i64 $part_number
  %number = load i64, ptr %number.at
  %high = shl i64 %number, $site_bits
  %pair = or i64 %high, %site
  %ignored = atomicrmw umin ptr %fault, i64 %pair monotonic
  br label %next

next:
  %index.next = add i64 %index, 1
  %more = icmp slt i64 %index.next, %end
  br i1 %more, label %loop, label %leave

leave:
  ret void
}
"""
