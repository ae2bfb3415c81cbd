"""The pool's workers, as LLVM IR: their loop, waking, starting and stopping.

Workers start with the first job, spin for a while after each job, and then sleep. Waking one may
take longer than the whole job (3 µs on one machine, 300 µs on a virtual one), so the pool measures
that time. After each claim, a thread working on a job compares it with the time that threads have
lately worked while others slept, plus the time still to work. If these are longer, it wakes two
sleepers. So a large pool is awake after a few rounds, a series of small jobs soon wakes some, and a
single small job wakes none.

A system may place a woken worker on the processor of its caller and leave it there for many
milliseconds, which is common on virtual machines, where an idle processor looks as if it were taken
away. Then two threads take as long as one. So workers may run on every processor of their caller,
except the one on which it is. When the caller has moved, that is set again.
"""

_WORKER = """
define internal ptr @worker(ptr %pool) nounwind {
entry:
  %state = getelementptr i8, ptr %pool, i64 $pool_state
  %sleepers = getelementptr i8, ptr %pool, i64 $pool_sleepers
  %mutex = getelementptr i8, ptr %pool, i64 $pool_mutex
  %condition = getelementptr i8, ptr %pool, i64 $pool_condition
  %numbers = getelementptr i8, ptr %pool, i64 $pool_numbers
  %before.me = atomicrmw add ptr %numbers, i64 1 monotonic
  %me = add i64 %before.me, 1
  %inherited = call i64 @enter_float_mode()
  br label %rest

rest:
  %done = phi i64 [ -1, %entry ], [ %number, %work ], [ %done, %rise ]
  %start = call i64 @clock()
  br label %spin

spin:
  %turns = phi i64 [ 0, %rest ], [ %turns.next, %idle ], [ %turns.next, %timed ], [ 0, %enter ]
  %seen = load atomic i64, ptr %state acquire, align 8
  %verdict = call i64 @examine(i64 %seen, i64 %done)
  switch i64 %verdict, label %idle [ i64 1, label %enter
                                     i64 2, label %exit ]

idle:
  call void @relax()
  %turns.next = add i64 %turns, 1
  %phase = and i64 %turns.next, 63
  %look = icmp eq i64 %phase, 0
  br i1 %look, label %timed, label %spin

timed:                                   ; on a crowded machine the caller may need this core
  %yielded = call i32 @sched_yield()
  %now = call i64 @clock()
  %waited = sub i64 %now, %start
  %tired = icmp ugt i64 %waited, $spin
  br i1 %tired, label %sleep, label %spin

enter:
  %inside = add i64 %seen, 1
  %seat = shl i64 1, $seat_bits
  %joined = sub i64 %inside, %seat
  %swap = cmpxchg ptr %state, i64 %seen, i64 %joined acquire monotonic
  %entered = extractvalue { i64, i1 } %swap, 1
  br i1 %entered, label %work, label %spin

work:
  %number = lshr i64 %seen, $number_bits
  %begun = call i64 @clock()
  %job = getelementptr i8, ptr %pool, i64 $pool_job
  %home = call i64 @home_of(ptr %pool, ptr %job, i64 %me, i64 %seen)
  call void @claim_tiles(ptr %job, ptr %pool, i64 %home, i64 %begun, i64 9223372036854775807)
  %before = atomicrmw sub ptr %state, i64 1 release
  br label %rest

sleep:
  %locked = call i32 @pthread_mutex_lock(ptr %mutex)
  %counted = atomicrmw add ptr %sleepers, i64 1 seq_cst
  %current = load atomic i64, ptr %state seq_cst, align 8
  %news = call i64 @examine(i64 %current, i64 %done)
  %nothing = icmp eq i64 %news, 0
  br i1 %nothing, label %wait, label %rise

wait:
  %signalled = call i32 @pthread_cond_wait(ptr %condition, ptr %mutex)
  %called.at = getelementptr i8, ptr %pool, i64 $pool_called
  %waking.at = getelementptr i8, ptr %pool, i64 $pool_waking
  %called = load atomic i64, ptr %called.at monotonic, align 8
  %risen = call i64 @clock()
  %delay = sub i64 %risen, %called
  %bounded = call i64 @llvm.umin.i64(i64 %delay, i64 $longest_waking)
  %average = load atomic i64, ptr %waking.at monotonic, align 8
  %sum = add i64 %average, %bounded
  %average.next = lshr i64 %sum, 1
  store atomic i64 %average.next, ptr %waking.at monotonic, align 8
  br label %rise

rise:                                    ; if there is nothing to do, it comes with the next job
  %discounted = atomicrmw sub ptr %sleepers, i64 1 seq_cst
  %unlocked = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %rest

exit:
  ret ptr null
}

; Keeps the workers off the processor that the caller is on, called by the holder of `busy`. In a
; child that was forked by other means than Python's there are none, and handles are its parent's.
define internal void @keep_apart(ptr %pool, i64 %place) noinline nounwind {
entry:
  %excluded.at = getelementptr i8, ptr %pool, i64 $pool_excluded
  %process.at = getelementptr i8, ptr %pool, i64 $pool_process
  %workers.at = getelementptr i8, ptr %pool, i64 $pool_workers
  %handles = getelementptr i8, ptr %pool, i64 $pool_handles
  %marked = add i64 %place, 1
  store i64 %marked, ptr %excluded.at
  %process = load i64, ptr %process.at
  %self = call i32 @getpid()
  %self.wide = zext i32 %self to i64
  %same = icmp eq i64 %process, %self.wide
  br i1 %same, label %exclude, label %leave

exclude:
  %workers = load i64, ptr %workers.at
  call void @leave_processor(i64 %place, ptr %handles, i64 %workers)
  br label %leave

leave:
  ret void
}

; The span that a worker begins with: always the same one if there is one for each worker, otherwise
; that of its seat.
define internal i64 @home_of(ptr %pool, ptr %job, i64 %worker, i64 %state) alwaysinline nounwind {
  %threads.at = getelementptr i8, ptr %job, i64 $job_threads
  %workers.at = getelementptr i8, ptr %pool, i64 $pool_workers
  %threads = load i64, ptr %threads.at
  %workers = load i64, ptr %workers.at
  %has.all = icmp sgt i64 %threads, %workers
  %seat = call i64 @seats_of(i64 %state)
  %home = select i1 %has.all, i64 %worker, i64 %seat
  ret i64 %home
}

; What a state means to a worker that has done job %done: 0 nothing, 1 a job to enter, 2 stop.
define internal i64 @examine(i64 %state, i64 %done) alwaysinline nounwind {
  %number = lshr i64 %state, $number_bits
  %open.bit = and i64 %state, $open_bit
  %stop.bit = and i64 %state, $stop_bit
  %seats = call i64 @seats_of(i64 %state)
  %is.open = icmp ne i64 %open.bit, 0
  %is.stop = icmp ne i64 %stop.bit, 0
  %is.new = icmp ne i64 %number, %done
  %has.room = icmp ne i64 %seats, 0
  %is.offer = and i1 %is.open, %is.new
  %is.job = and i1 %is.offer, %has.room
  %job = zext i1 %is.job to i64
  %verdict = select i1 %is.stop, i64 2, i64 %job
  ret i64 %verdict
}

define internal i64 @seats_of(i64 %state) alwaysinline nounwind {
  %above = lshr i64 %state, $seat_bits
  %seats = and i64 %above, $seat_mask
  ret i64 %seats
}

; Called after %taken tiles took %elapsed nanoseconds and %left are unclaimed: wakes up to two
; sleepers if there are seats for them and that is worth it. After a fork by other means than
; Python's, the child has no workers and perhaps a mutex locked for ever, which must not be touched.
define internal void @wake_two(ptr %pool, i64 %now, i64 %elapsed, i64 %taken, i64 %left) nounwind {
entry:
  %sleepers.at = getelementptr i8, ptr %pool, i64 $pool_sleepers
  %sleepers = load atomic i64, ptr %sleepers.at seq_cst, align 8
  %state.at = getelementptr i8, ptr %pool, i64 $pool_state
  %state = load atomic i64, ptr %state.at monotonic, align 8
  %seats = call i64 @seats_of(i64 %state)
  %useful = call i64 @llvm.smin.i64(i64 %sleepers, i64 %seats)
  %any = icmp sgt i64 %useful, 0
  br i1 %any, label %estimate, label %leave

estimate:
  %missed.at = getelementptr i8, ptr %pool, i64 $pool_missed
  %ended.at = getelementptr i8, ptr %pool, i64 $pool_ended
  %missed.old = load atomic i64, ptr %missed.at monotonic, align 8
  %ended = load atomic i64, ptr %ended.at monotonic, align 8
  %began = sub i64 %now, %elapsed
  %difference = sub i64 %began, %ended
  %gap = call i64 @llvm.smax.i64(i64 %difference, i64 0)
  %faded = sub i64 %missed.old, %gap
  %recent = call i64 @llvm.smax.i64(i64 %faded, i64 0)
  %missed = add i64 %recent, %elapsed
  store atomic i64 %missed, ptr %missed.at monotonic, align 8
  store atomic i64 %now, ptr %ended.at monotonic, align 8
  %claims = udiv i64 %left, %taken
  %claims.bounded = call i64 @llvm.umin.i64(i64 %claims, i64 1048576)
  %remaining = mul i64 %claims.bounded, %elapsed
  %gain = add i64 %missed, %remaining
  %waking.at = getelementptr i8, ptr %pool, i64 $pool_waking
  %waking = load atomic i64, ptr %waking.at monotonic, align 8
  %twice = shl i64 %waking, 1
  %least = add i64 %twice, $worth_waking
  %worth = icmp ugt i64 %gain, %least
  br i1 %worth, label %identify, label %leave

identify:
  %process.at = getelementptr i8, ptr %pool, i64 $pool_process
  %process = load i64, ptr %process.at
  %self = call i32 @getpid()
  %self.wide = zext i32 %self to i64
  %same = icmp eq i64 %process, %self.wide
  br i1 %same, label %wake, label %leave

wake:
  %called.at = getelementptr i8, ptr %pool, i64 $pool_called
  store atomic i64 %now, ptr %called.at monotonic, align 8
  store atomic i64 0, ptr %missed.at monotonic, align 8
  %mutex = getelementptr i8, ptr %pool, i64 $pool_mutex
  %condition = getelementptr i8, ptr %pool, i64 $pool_condition
  %locked = call i32 @pthread_mutex_lock(ptr %mutex)
  %unlocked = call i32 @pthread_mutex_unlock(ptr %mutex)
  %first = call i32 @pthread_cond_signal(ptr %condition)
  %several = icmp sgt i64 %useful, 1
  br i1 %several, label %second, label %leave

second:
  %signalled = call i32 @pthread_cond_signal(ptr %condition)
  br label %leave

leave:
  ret void
}
"""

_STAFF = """
; Brings the workers to %wanted, called by the holder of `busy`. Workers block all signals, which
; are Python's to handle. If the system refuses a thread, the pool is as large as it got.
define internal void @start_workers(ptr %pool, i64 %wanted) noinline nounwind {
entry:
  %mask = alloca [128 x i8]
  %old.mask = alloca [128 x i8]
  %mutex = getelementptr i8, ptr %pool, i64 $pool_mutex
  %condition = getelementptr i8, ptr %pool, i64 $pool_condition
  %handles = getelementptr i8, ptr %pool, i64 $pool_handles
  %process.at = getelementptr i8, ptr %pool, i64 $pool_process
  %workers.at = getelementptr i8, ptr %pool, i64 $pool_workers
  %wanted.at = getelementptr i8, ptr %pool, i64 $pool_wanted
  %ready.1 = call i32 @pthread_mutex_init(ptr %mutex, ptr null)
  %ready.2 = call i32 @pthread_cond_init(ptr %condition, ptr null)
  %self = call i32 @getpid()
  %self.wide = zext i32 %self to i64
  store i64 %self.wide, ptr %process.at
  %numbers.at = getelementptr i8, ptr %pool, i64 $pool_numbers
  store atomic i64 0, ptr %numbers.at monotonic, align 8
  %excluded.at = getelementptr i8, ptr %pool, i64 $pool_excluded
  store i64 0, ptr %excluded.at
  %filled = call i32 @sigfillset(ptr %mask)
  %blocked = call i32 @set_signal_mask(ptr %mask, ptr %old.mask)
  br label %create

create:
  %count = phi i64 [ 0, %entry ], [ %count.next, %created ]
  %handle = getelementptr i64, ptr %handles, i64 %count
  %error = call i32 @pthread_create(ptr %handle, ptr null, ptr @worker, ptr %pool)
  %worked = icmp eq i32 %error, 0
  br i1 %worked, label %created, label %settle

created:
  %count.next = add i64 %count, 1
  %enough = icmp sge i64 %count.next, %wanted
  br i1 %enough, label %settle, label %create

settle:
  %got = phi i64 [ %count, %create ], [ %count.next, %created ]
  %restored = call i32 @set_signal_mask(ptr %old.mask, ptr null)
  store i64 %got, ptr %workers.at
  ; `resize` may have written another wish meanwhile, which must stand.
  %swap = cmpxchg ptr %wanted.at, i64 %wanted, i64 %got monotonic monotonic
  ret void
}

; Stops all workers and waits until they are gone; the next parallel step starts %wanted anew.
; Callers in the middle of a job are let finish it (to its end, or to their next pause).
define void @ogive_resize_pool(ptr %pool, i64 %wanted) nounwind {
entry:
  %wanted.at = getelementptr i8, ptr %pool, i64 $pool_wanted
  %busy = getelementptr i8, ptr %pool, i64 $pool_busy
  store atomic i64 0, ptr %wanted.at seq_cst, align 8
  br label %knock

knock:
  %swap = cmpxchg ptr %busy, i64 0, i64 1 acquire monotonic
  %taken = extractvalue { i64, i1 } %swap, 1
  br i1 %taken, label %dismiss, label %wait

wait:
  %yielded = call i32 @sched_yield()
  br label %knock

dismiss:
  %workers.at = getelementptr i8, ptr %pool, i64 $pool_workers
  %workers = load i64, ptr %workers.at
  store i64 0, ptr %workers.at
  %process.at = getelementptr i8, ptr %pool, i64 $pool_process
  %process = load i64, ptr %process.at
  %self = call i32 @getpid()
  %self.wide = zext i32 %self to i64
  %same = icmp eq i64 %process, %self.wide
  %any = icmp sgt i64 %workers, 0
  %to.join = and i1 %same, %any
  br i1 %to.join, label %signal, label %leave

signal:
  %state = getelementptr i8, ptr %pool, i64 $pool_state
  %mutex = getelementptr i8, ptr %pool, i64 $pool_mutex
  %condition = getelementptr i8, ptr %pool, i64 $pool_condition
  %handles = getelementptr i8, ptr %pool, i64 $pool_handles
  %stopping = atomicrmw or ptr %state, i64 $stop_bit seq_cst
  %locked = call i32 @pthread_mutex_lock(ptr %mutex)
  %woken = call i32 @pthread_cond_broadcast(ptr %condition)
  %unlocked = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %join

join:
  %index = phi i64 [ 0, %signal ], [ %index.next, %join ]
  %handle.at = getelementptr i64, ptr %handles, i64 %index
  %handle = load i64, ptr %handle.at
  %joined = call i32 @pthread_join(i64 %handle, ptr null)
  %index.next = add i64 %index, 1
  %more = icmp slt i64 %index.next, %workers
  br i1 %more, label %join, label %clear

clear:
  %cleared = atomicrmw sub ptr %state, i64 $stop_bit seq_cst
  %gone.1 = call i32 @pthread_cond_destroy(ptr %condition)
  %gone.2 = call i32 @pthread_mutex_destroy(ptr %mutex)
  br label %leave

leave:
  store atomic i64 %wanted, ptr %wanted.at seq_cst, align 8
  store atomic i64 0, ptr %busy release, align 8
  ret void
}

declare i32 @getpid() nounwind
declare i32 @sched_yield() nounwind
declare i32 @sigfillset(ptr) nounwind
declare i32 @pthread_create(ptr, ptr, ptr, ptr) nounwind
declare i32 @pthread_join(i64, ptr) nounwind
declare i32 @pthread_mutex_init(ptr, ptr) nounwind
declare i32 @pthread_mutex_destroy(ptr) nounwind
declare i32 @pthread_mutex_lock(ptr) nounwind
declare i32 @pthread_mutex_unlock(ptr) nounwind
declare i32 @pthread_cond_init(ptr, ptr) nounwind
declare i32 @pthread_cond_destroy(ptr) nounwind
declare i32 @pthread_cond_wait(ptr, ptr) nounwind
declare i32 @pthread_cond_signal(ptr) nounwind
declare i32 @pthread_cond_broadcast(ptr) nounwind
"""

WORKERS = _WORKER + _STAFF
