; Tiny kernels for the tests of the driver, in the kernel ABI: (arguments, begin, end, fault).

; Adds one to counts[tile] for each of its tiles. Words: counts.
define void @count(ptr %arguments, i64 %begin, i64 %end, ptr %fault) nounwind {
entry:
  %counts = load ptr, ptr %arguments
  br label %loop
loop:
  %tile = phi i64 [ %begin, %entry ], [ %tile.next, %loop ]
  %at = getelementptr i64, ptr %counts, i64 %tile
  %old = load i64, ptr %at
  %new = add i64 %old, 1
  store i64 %new, ptr %at
  %tile.next = add i64 %tile, 1
  %more = icmp slt i64 %tile.next, %end
  br i1 %more, label %loop, label %leave
leave:
  ret void
}

; Counts as above, after a busy wait of as many turns as the second word says. Words: counts, turns.
define void @slow_count(ptr %arguments, i64 %begin, i64 %end, ptr %fault) nounwind {
entry:
  %turns.at = getelementptr i64, ptr %arguments, i64 1
  %turns = load i64, ptr %turns.at
  %counts = load ptr, ptr %arguments
  %sink = alloca i64
  br label %loop
loop:
  %tile = phi i64 [ %begin, %entry ], [ %tile.next, %finish ]
  br label %spin
spin:
  %turn = phi i64 [ 0, %loop ], [ %turn.next, %spin ]
  store volatile i64 %turn, ptr %sink
  %turn.next = add i64 %turn, 1
  %spinning = icmp slt i64 %turn.next, %turns
  br i1 %spinning, label %spin, label %finish
finish:
  %at = getelementptr i64, ptr %counts, i64 %tile
  %old = load i64, ptr %at
  %new = add i64 %old, 1
  store i64 %new, ptr %at
  %tile.next = add i64 %tile, 1
  %more = icmp slt i64 %tile.next, %end
  br i1 %more, label %loop, label %leave
leave:
  ret void
}

; Appends a value to a log whose first word is its length. Words: log, value.
define void @append(ptr %arguments, i64 %begin, i64 %end, ptr %fault) nounwind {
  %value.at = getelementptr i64, ptr %arguments, i64 1
  %value = load i64, ptr %value.at
  %log = load ptr, ptr %arguments
  %length = load i64, ptr %log
  %length.next = add i64 %length, 1
  store i64 %length.next, ptr %log
  %at = getelementptr i64, ptr %log, i64 %length.next
  store i64 %value, ptr %at
  ret void
}

; Counts its tiles; every one not below the limit faults with its own number. Words: counts, limit.
define void @fail_from(ptr %arguments, i64 %begin, i64 %end, ptr %fault) nounwind {
entry:
  %limit.at = getelementptr i64, ptr %arguments, i64 1
  %limit = load i64, ptr %limit.at
  br label %loop
loop:
  %tile = phi i64 [ %begin, %entry ], [ %tile.next, %next ]
  %tile.next = add i64 %tile, 1
  call void @count(ptr %arguments, i64 %tile, i64 %tile.next, ptr %fault)
  %fails = icmp sge i64 %tile, %limit
  br i1 %fails, label %report, label %next
report:
  %ignored = atomicrmw umin ptr %fault, i64 %tile monotonic
  br label %next
next:
  %more = icmp slt i64 %tile.next, %end
  br i1 %more, label %loop, label %leave
leave:
  ret void
}

; Waits like slow_count, then writes the running thread's identity. Words: threads, turns.
define void @identify(ptr %arguments, i64 %begin, i64 %end, ptr %fault) nounwind {
entry:
  %threads = load ptr, ptr %arguments
  %self = call i64 @pthread_self()
  br label %loop
loop:
  %tile = phi i64 [ %begin, %entry ], [ %tile.next, %loop ]
  %tile.next = add i64 %tile, 1
  call void @slow_count(ptr %arguments, i64 %tile, i64 %tile.next, ptr %fault)
  %at = getelementptr i64, ptr %threads, i64 %tile
  store i64 %self, ptr %at
  %more = icmp slt i64 %tile.next, %end
  br i1 %more, label %loop, label %leave
leave:
  ret void
}
declare i64 @pthread_self()
