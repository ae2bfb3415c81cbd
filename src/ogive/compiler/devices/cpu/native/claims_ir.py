"""The claiming of tiles of a long step, as LLVM IR.

The tiles are in spans, one for each thread that may work on the step:

    spans   [ 0 ... 50 )   [ 50 ... 100 )        of 100 tiles, for the caller and one worker
    later   [ 17 ... 50 )  [ 62 ... 100 )        at a pause: the remaining tiles, for the next time

A thread claims tiles of its own span, and when that is exhausted, of the other spans. So it finds
in its cache what it wrote in the step before. Otherwise half of a packed operand would be in the
cache of the other core, and fetching it from there takes longer than packing it. Results do not
depend on which thread claims which tiles.
"""

LONG_STEP = """
; Runs the tiles of a step, or those left in %left spans, shared with the pool or alone. Returns how
; many spans there are if it left some tiles for later because the deadline passed, otherwise 0.
define internal i64 @long_step(ptr %plan, ptr %record, i64 %left, ptr %deadline) noinline nounwind {
entry:
  %job = alloca [8 x i64]
  %now = call i64 @clock()
  %limit = call i64 @deadline_from(ptr %plan, i64 %now, ptr %deadline)
  %shared = call i64 @share_step(ptr %plan, ptr %record, i64 %left, i64 %now, i64 %limit)
  %was.shared = icmp sge i64 %shared, 0
  br i1 %was.shared, label %leave, label %alone

alone:
  call void @write_job(ptr %job, ptr %plan, ptr %record, i64 %left, i64 1)
  call void @claim_tiles(ptr %job, ptr null, i64 0, i64 %now, i64 %limit)
  %unfinished = call i64 @spans_left(ptr %job)
  br label %leave

leave:
  %result = phi i64 [ %shared, %entry ], [ %unfinished, %alone ]
  ret i64 %result
}

; Describes a step as a job for so many threads. Its tiles are cut into a span for each, unless they
; are in %left spans already.
define internal void @write_job(ptr %job, ptr %plan, ptr %record, i64 %left, i64 %threads)
    nounwind {
entry:
  %kernel.at = getelementptr i8, ptr %record, i64 $step_kernel
  %arguments.at = getelementptr i8, ptr %record, i64 $step_arguments
  %tiles.at = getelementptr i8, ptr %record, i64 $step_tiles
  %grain.at = getelementptr i8, ptr %record, i64 $step_grain
  %spans.at = getelementptr i8, ptr %plan, i64 $plan_spans
  %room.at = getelementptr i8, ptr %plan, i64 $plan_room
  %fault = getelementptr i8, ptr %plan, i64 $plan_fault
  %kernel = load ptr, ptr %kernel.at
  %arguments = load ptr, ptr %arguments.at
  %tiles = load i64, ptr %tiles.at
  %given.grain = load i64, ptr %grain.at
  %spans = load ptr, ptr %spans.at
  %room = load i64, ptr %room.at
  %grain = call i64 @llvm.smax.i64(i64 %given.grain, i64 1)
  %is.begun = icmp ne i64 %left, 0
  %fitting = call i64 @llvm.smin.i64(i64 %threads, i64 %room)
  %count = select i1 %is.begun, i64 %left, i64 %fitting
  %is.alone = icmp eq i64 %threads, 1
  %parts = select i1 %is.alone, i64 1, i64 2
  %job.kernel = getelementptr i8, ptr %job, i64 $job_kernel
  %job.arguments = getelementptr i8, ptr %job, i64 $job_arguments
  %job.grain = getelementptr i8, ptr %job, i64 $job_grain
  %job.fault = getelementptr i8, ptr %job, i64 $job_fault
  %job.spans = getelementptr i8, ptr %job, i64 $job_spans
  %job.count = getelementptr i8, ptr %job, i64 $job_count
  %job.parts = getelementptr i8, ptr %job, i64 $job_parts
  %job.threads = getelementptr i8, ptr %job, i64 $job_threads
  store ptr %kernel, ptr %job.kernel
  store ptr %arguments, ptr %job.arguments
  store i64 %grain, ptr %job.grain
  store ptr %fault, ptr %job.fault
  store ptr %spans, ptr %job.spans
  store i64 %count, ptr %job.count
  store i64 %parts, ptr %job.parts
  store i64 %threads, ptr %job.threads
  br i1 %is.begun, label %leave, label %cut

cut:
  %index = phi i64 [ 0, %entry ], [ %index.next, %cut ]
  %begin = phi i64 [ 0, %entry ], [ %end, %cut ]
  %index.next = add i64 %index, 1
  %product = mul i64 %tiles, %index.next
  %end = udiv i64 %product, %count
  %next.at = getelementptr [2 x i64], ptr %spans, i64 %index
  %end.at = getelementptr [2 x i64], ptr %spans, i64 %index, i64 1
  store atomic i64 %begin, ptr %next.at monotonic, align 8
  store i64 %end, ptr %end.at
  %more = icmp slt i64 %index.next, %count
  br i1 %more, label %cut, label %leave

leave:
  ret void
}

; How many spans a job has, or 0 if no tile of it is left. Nobody claims any more.
define internal i64 @spans_left(ptr %job) nounwind {
entry:
  %spans.at = getelementptr i8, ptr %job, i64 $job_spans
  %count.at = getelementptr i8, ptr %job, i64 $job_count
  %spans = load ptr, ptr %spans.at
  %count = load i64, ptr %count.at
  br label %look

look:
  %index = phi i64 [ 0, %entry ], [ %index.next, %none ]
  %next.at = getelementptr [2 x i64], ptr %spans, i64 %index
  %end.at = getelementptr [2 x i64], ptr %spans, i64 %index, i64 1
  %next = load atomic i64, ptr %next.at monotonic, align 8
  %end = load i64, ptr %end.at
  %any = icmp slt i64 %next, %end
  br i1 %any, label %leave, label %none

none:
  %index.next = add i64 %index, 1
  %more = icmp slt i64 %index.next, %count
  br i1 %more, label %look, label %leave

leave:
  %result = phi i64 [ %count, %look ], [ 0, %none ]
  ret i64 %result
}

; Claims and runs tiles of a job until none is left, those of its own span first, then the others'.
; Stops earlier if the deadline passes (the caller's; workers have none) or if the pool's job is
; closed, as the caller does then.
define internal void @claim_tiles(ptr %job, ptr %pool, i64 %home, i64 %now, i64 %deadline)
    nounwind {
entry:
  %kernel.at = getelementptr i8, ptr %job, i64 $job_kernel
  %arguments.at = getelementptr i8, ptr %job, i64 $job_arguments
  %grain.at = getelementptr i8, ptr %job, i64 $job_grain
  %fault.at = getelementptr i8, ptr %job, i64 $job_fault
  %spans.at = getelementptr i8, ptr %job, i64 $job_spans
  %count.at = getelementptr i8, ptr %job, i64 $job_count
  %parts.at = getelementptr i8, ptr %job, i64 $job_parts
  %kernel = load ptr, ptr %kernel.at
  %arguments = load ptr, ptr %arguments.at
  %grain = load i64, ptr %grain.at
  %fault = load ptr, ptr %fault.at
  %spans = load ptr, ptr %spans.at
  %count = load i64, ptr %count.at
  %parts = load i64, ptr %parts.at
  %is.alone = icmp eq ptr %pool, null
  br label %visit

visit:
  %turn = phi i64 [ 0, %entry ], [ %turn.next, %exhausted ]
  %size.first = phi i64 [ %grain, %entry ], [ %size, %exhausted ]
  %since.first = phi i64 [ %now, %entry ], [ %since, %exhausted ]
  %further = add i64 %home, %turn
  %place = urem i64 %further, %count
  %next = getelementptr [2 x i64], ptr %spans, i64 %place
  %stop.at = getelementptr [2 x i64], ptr %spans, i64 %place, i64 1
  %stop = load i64, ptr %stop.at
  br label %claim

claim:
  %size = phi i64 [ %size.first, %visit ], [ %size.next, %more ]
  %since = phi i64 [ %since.first, %visit ], [ %then, %more ]
  %position = load atomic i64, ptr %next monotonic, align 8
  %left = sub i64 %stop, %position
  %any = icmp sgt i64 %left, 0
  br i1 %any, label %measure, label %exhausted

measure:                                 ; small claims towards the end, so that all end together
  %share = udiv i64 %left, %parts
  %bounded = call i64 @llvm.smin.i64(i64 %size, i64 %share)
  %taken = call i64 @llvm.smax.i64(i64 %bounded, i64 %grain)
  %begin = atomicrmw add ptr %next, i64 %taken monotonic
  %is.mine = icmp slt i64 %begin, %stop
  br i1 %is.mine, label %work, label %exhausted

work:
  %past = add i64 %begin, %taken
  %end = call i64 @llvm.smin.i64(i64 %past, i64 %stop)
  call void %kernel(ptr %arguments, i64 %begin, i64 %end, ptr %fault)
  %then = call i64 @clock()
  %elapsed = sub i64 %then, %since
  %size.next = call i64 @next_claim(i64 %taken, i64 %elapsed, i64 %grain)
  %late = icmp sge i64 %then, %deadline
  br i1 %late, label %leave, label %continue

continue:
  br i1 %is.alone, label %more, label %consult

consult:
  %here = sub i64 %stop, %end
  %everywhere = mul i64 %here, %count
  %closed = call i1 @consult_pool(
    ptr %pool, i64 %then, i64 %elapsed, i64 %taken, i64 %everywhere)
  br i1 %closed, label %leave, label %more

more:
  br label %claim

exhausted:
  %turn.next = add i64 %turn, 1
  %is.around = icmp sge i64 %turn.next, %count
  br i1 %is.around, label %leave, label %visit

leave:
  ret void
}

; Claims grow while they are short and shrink when they are long, so that a pause is never far.
define internal i64 @next_claim(i64 %size, i64 %elapsed, i64 %grain) alwaysinline nounwind {
  %is.short = icmp ult i64 %elapsed, $short_claim
  %is.long = icmp ugt i64 %elapsed, $long_claim
  %twice = shl i64 %size, 1
  %half = lshr i64 %size, 1
  %least = call i64 @llvm.smax.i64(i64 %half, i64 %grain)
  %kept = select i1 %is.long, i64 %least, i64 %size
  %next = select i1 %is.short, i64 %twice, i64 %kept
  ret i64 %next
}
"""
