"""The thread pool, as LLVM IR.

Who owns what: a caller that takes `busy` may publish a job, by writing its fields and then opening
`state` under a new number, with as many seats as its step is worth further threads. A worker enters
by taking a seat in a compare-and-swap that fails if the job was closed meanwhile, so nobody enters
late. Caller and workers then claim tiles from `next` until none is left; the caller closes the job
and waits for those inside, never for one that has not come. If `busy` is taken, the caller does its
step alone: nothing can deadlock.
"""

NO_POOL = """
define internal i64 @share_step(ptr %plan, ptr %record, i64 %tile, i64 %now, i64 %deadline) {
  ret i64 -1
}
define void @ogive_resize_pool(ptr %pool, i64 %wanted) nounwind {
  ret void
}
"""

SHARE = """
; Runs a parallel step with the pool's help. Returns the first tile left for later, the number of
; tiles if none is, or -1 if the pool is absent or busy and the step was not begun.
define internal i64 @share_step(ptr %plan, ptr %record, i64 %tile, i64 %now, i64 %deadline)
    nounwind {
entry:
  %kind.at = getelementptr i8, ptr %record, i64 $step_kind
  %pool.at = getelementptr i8, ptr %plan, i64 $plan_pool
  %kind = load i64, ptr %kind.at
  %pool = load ptr, ptr %pool.at
  %most.at = getelementptr i8, ptr %record, i64 $step_threads
  %most = load i64, ptr %most.at
  %is.parallel = icmp eq i64 %kind, $kind_parallel
  %is.there = icmp ne ptr %pool, null
  %is.worth.it = icmp sgt i64 %most, 1
  %can.be = and i1 %is.parallel, %is.there
  %possible = and i1 %can.be, %is.worth.it
  br i1 %possible, label %ask, label %refused

ask:
  %wanted.at = getelementptr i8, ptr %pool, i64 $pool_wanted
  %wanted = load atomic i64, ptr %wanted.at monotonic, align 8
  %is.useful = icmp sgt i64 %wanted, 0
  br i1 %is.useful, label %take, label %refused

take:
  %busy = getelementptr i8, ptr %pool, i64 $pool_busy
  %swap = cmpxchg ptr %busy, i64 0, i64 1 acquire monotonic
  %taken = extractvalue { i64, i1 } %swap, 1
  br i1 %taken, label %staff, label %refused

staff:                                   ; read again, now that nobody else can act on it
  %hired = load atomic i64, ptr %wanted.at monotonic, align 8
  %workers.at = getelementptr i8, ptr %pool, i64 $pool_workers
  %workers = load i64, ptr %workers.at
  %is.staffed = icmp sge i64 %workers, %hired
  br i1 %is.staffed, label %publish, label %start

start:
  call void @start_workers(ptr %pool, i64 %hired)
  br label %publish

publish:
  %kernel.at = getelementptr i8, ptr %record, i64 $step_kernel
  %arguments.at = getelementptr i8, ptr %record, i64 $step_arguments
  %tiles.at = getelementptr i8, ptr %record, i64 $step_tiles
  %grain.at = getelementptr i8, ptr %record, i64 $step_grain
  %kernel = load ptr, ptr %kernel.at
  %arguments = load ptr, ptr %arguments.at
  %tiles = load i64, ptr %tiles.at
  %given.grain = load i64, ptr %grain.at
  %grain = call i64 @llvm.smax.i64(i64 %given.grain, i64 1)
  %all = add i64 %hired, 1
  %threads = call i64 @llvm.smin.i64(i64 %all, i64 %most)
  %fault = getelementptr i8, ptr %plan, i64 $plan_fault
  %job.kernel = getelementptr i8, ptr %pool, i64 $job_kernel
  %job.arguments = getelementptr i8, ptr %pool, i64 $job_arguments
  %job.fault = getelementptr i8, ptr %pool, i64 $job_fault
  %job.tiles = getelementptr i8, ptr %pool, i64 $job_tiles
  %job.grain = getelementptr i8, ptr %pool, i64 $job_grain
  %job.threads = getelementptr i8, ptr %pool, i64 $job_threads
  %next = getelementptr i8, ptr %pool, i64 $pool_next
  store ptr %kernel, ptr %job.kernel
  store ptr %arguments, ptr %job.arguments
  store ptr %fault, ptr %job.fault
  store i64 %tiles, ptr %job.tiles
  store i64 %grain, ptr %job.grain
  store i64 %threads, ptr %job.threads
  store atomic i64 %tile, ptr %next monotonic, align 8
  %state = getelementptr i8, ptr %pool, i64 $pool_state
  %old = load atomic i64, ptr %state monotonic, align 8
  %number = lshr i64 %old, $number_bits
  %number.next = add i64 %number, 1
  %empty = shl i64 %number.next, $number_bits
  %others = sub i64 %threads, 1
  %seats = shl i64 %others, $seat_bits
  %offered = or i64 %empty, %seats
  %opened = or i64 %offered, $open_bit
  store atomic i64 %opened, ptr %state seq_cst, align 8
  %reached = call i64 @claim_tiles(ptr %pool, i64 %now, i64 %deadline)
  %closed = atomicrmw sub ptr %state, i64 $open_bit acq_rel
  br label %wait

wait:
  %turns = phi i64 [ 0, %publish ], [ %turns.next, %again ]
  %seen = load atomic i64, ptr %state acquire, align 8
  %inside = and i64 %seen, $inside_mask
  %is.empty = icmp eq i64 %inside, 0
  br i1 %is.empty, label %leave, label %linger

linger:
  call void @relax()
  %turns.next = add i64 %turns, 1
  %is.long = icmp ugt i64 %turns, 2000
  br i1 %is.long, label %yield, label %again

yield:
  %ignored = call i32 @sched_yield()
  br label %again

again:
  br label %wait

leave:
  store atomic i64 0, ptr %busy release, align 8
  ret i64 %reached

refused:
  ret i64 -1
}

; Claims and runs tiles of the open job until none is left. Past the deadline (the caller's; workers
; have none) it claims all the rest without running it, so that everybody stops, and returns the
; first tile of that rest; otherwise the number of tiles.
define internal i64 @claim_tiles(ptr %pool, i64 %now, i64 %deadline) nounwind {
entry:
  %job.kernel = getelementptr i8, ptr %pool, i64 $job_kernel
  %job.arguments = getelementptr i8, ptr %pool, i64 $job_arguments
  %job.fault = getelementptr i8, ptr %pool, i64 $job_fault
  %job.tiles = getelementptr i8, ptr %pool, i64 $job_tiles
  %job.grain = getelementptr i8, ptr %pool, i64 $job_grain
  %job.threads = getelementptr i8, ptr %pool, i64 $job_threads
  %next = getelementptr i8, ptr %pool, i64 $pool_next
  %kernel = load ptr, ptr %job.kernel
  %arguments = load ptr, ptr %job.arguments
  %fault = load ptr, ptr %job.fault
  %tiles = load i64, ptr %job.tiles
  %grain = load i64, ptr %job.grain
  %threads = load i64, ptr %job.threads
  %parts = shl i64 %threads, 1
  br label %claim

claim:
  %size = phi i64 [ %grain, %entry ], [ %size.next, %more ]
  %since = phi i64 [ %now, %entry ], [ %then, %more ]
  %position = load atomic i64, ptr %next monotonic, align 8
  %left = sub i64 %tiles, %position
  %any = icmp sgt i64 %left, 0
  br i1 %any, label %measure, label %exhausted

measure:                                 ; small claims towards the end, so that all end together
  %share = udiv i64 %left, %parts
  %bounded = call i64 @llvm.smin.i64(i64 %size, i64 %share)
  %taken = call i64 @llvm.smax.i64(i64 %bounded, i64 %grain)
  %begin = atomicrmw add ptr %next, i64 %taken monotonic
  %is.mine = icmp slt i64 %begin, %tiles
  br i1 %is.mine, label %work, label %exhausted

work:
  %past = add i64 %begin, %taken
  %end = call i64 @llvm.smin.i64(i64 %past, i64 %tiles)
  call void %kernel(ptr %arguments, i64 %begin, i64 %end, ptr %fault)
  %then = call i64 @clock()
  %elapsed = sub i64 %then, %since
  %size.next = call i64 @next_claim(i64 %taken, i64 %elapsed, i64 %grain)
  %unclaimed.now = sub i64 %tiles, %end
  call void @wake_two(ptr %pool, i64 %then, i64 %elapsed, i64 %taken, i64 %unclaimed.now)
  %late = icmp sge i64 %then, %deadline
  br i1 %late, label %stop, label %more

more:
  br label %claim

stop:
  %unclaimed = atomicrmw xchg ptr %next, i64 %tiles monotonic
  %reached = call i64 @llvm.smin.i64(i64 %unclaimed, i64 %tiles)
  ret i64 %reached

exhausted:
  ret i64 %tiles
}
"""
