"""The thread pool, as LLVM IR.

A caller that takes `busy` owns the pool and may publish a job: it writes the fields and then opens
`state` under a new number, with as many seats as its step is worth further threads. A worker enters
by taking a seat with a compare-and-swap, which fails if the job was closed meanwhile, so that no
worker enters late. Caller and workers then claim tiles (`claims_ir.py`) until none is left. The
caller closes the job and waits for the workers inside, never for one that has not entered. If
`busy` is taken, the caller runs its step alone. So nothing can deadlock.
"""

SHARE = """
; Runs a parallel step with the pool's help. Returns how many spans have tiles that are left for
; later, or -1 if the pool is absent or busy and the step was not begun.
define internal i64 @share_step(ptr %plan, ptr %record, i64 %left, i64 %now, i64 %deadline)
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
  %all = add i64 %hired, 1
  %threads = call i64 @llvm.smin.i64(i64 %all, i64 %most)
  %job = getelementptr i8, ptr %pool, i64 $pool_job
  call void @write_job(ptr %job, ptr %plan, ptr %record, i64 %left, i64 %threads)
  %excluded.at = getelementptr i8, ptr %pool, i64 $pool_excluded
  %excluded = load i64, ptr %excluded.at
  %place = call i64 @processor()
  %marked = add i64 %place, 1
  %has.moved = icmp ne i64 %marked, %excluded
  br i1 %has.moved, label %part, label %open

part:
  call void @keep_apart(ptr %pool, i64 %place)
  br label %open

open:
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
  call void @claim_tiles(ptr %job, ptr %pool, i64 0, i64 %now, i64 %deadline)
  %closed = atomicrmw sub ptr %state, i64 $open_bit acq_rel
  br label %wait

wait:
  %turns = phi i64 [ 0, %open ], [ %turns.next, %again ]
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
  %unfinished = call i64 @spans_left(ptr %job)
  store atomic i64 0, ptr %busy release, align 8
  ret i64 %unfinished

refused:
  ret i64 -1
}

; What a thread does between two claims: it wakes sleepers if that is worth it, and learns whether
; the job was closed.
define internal i1 @consult_pool(ptr %pool, i64 %now, i64 %elapsed, i64 %taken, i64 %left)
    nounwind {
  call void @wake_two(ptr %pool, i64 %now, i64 %elapsed, i64 %taken, i64 %left)
  %state.at = getelementptr i8, ptr %pool, i64 $pool_state
  %state = load atomic i64, ptr %state.at monotonic, align 8
  %open = and i64 %state, $open_bit
  %closed = icmp eq i64 %open, 0
  ret i1 %closed
}
"""
