"""The LLVM IR of `ogive_batch`, which replays launches in a row as one CUDA graph.

Its state is a table of words that is kept between runs.
"""

from __future__ import annotations

from ogive.compiler.devices.cuda.graph_capture_ir import CAPTURE
from ogive.compiler.devices.step_records import STEP_FIELDS, STEP_WORDS

TABLE_FIELDS = (
    "replayed",  # the graph that can be launched; 0 while there is none
    "graph",  # the graph that this was instantiated from
    "runs",  # how many runs were made without a graph
    "steps",
    "records",  # the address of the steps' records ...
    "words",  # ... and of their words, ...
    "word_bytes",  # ... and their size in bytes
    "last_words",  # the address of the words that the graph was last given, ...
    "last_tiles",  # ... and of the tiles of each step
    "nodes",  # the address of the handles of its nodes, ...
    "count",  # ... their number, ...
    "room",  # ... their greatest number, ...
    "first_nodes",  # ... and the address of the number of each step's first node
    "cursor",  # the next node to change
)

TABLE_OFFSETS = {f"table_{name}": 8 * place for place, name in enumerate(TABLE_FIELDS)}
STEP_STRIDES = {
    "step_bytes": 8 * STEP_WORDS,
    **{f"step_{name}": 8 * place for place, name in enumerate(STEP_FIELDS)},
}

_BATCH = """
define void @ogive_batch(ptr %table, i64 %begin, i64 %end, ptr %fault) nounwind {
entry:
  %entered = call i32 inttoptr (i64 $enter to ptr)(ptr inttoptr (i64 $context to ptr))
  %replayed.at = getelementptr i8, ptr %table, i64 $table_replayed
  %runs.at = getelementptr i8, ptr %table, i64 $table_runs
  %replayed = load ptr, ptr %replayed.at
  %is.made = icmp ne ptr %replayed, null
  %empty = call i1 @has_empty_step(ptr %table)
  br i1 %empty, label %single, label %full

full:
  br i1 %is.made, label %change, label %first

first:
  %runs = load i64, ptr %runs.at
  %runs.next = add i64 %runs, 1
  store i64 %runs.next, ptr %runs.at
  %is.second = icmp eq i64 %runs, 1
  br i1 %is.second, label %capture, label %single

capture:
  %captured = call i1 @capture_graph(ptr %table)
  br i1 %captured, label %replay, label %single

change:
  %before = load i64, ptr inttoptr (i64 $failure to ptr)
  call void @each_step(ptr %table, ptr @change_step)
  %after = load i64, ptr inttoptr (i64 $failure to ptr)
  %is.refused = icmp ne i64 %before, %after
  br i1 %is.refused, label %forget, label %replay

forget:
  call void @each_step(ptr %table, ptr @forget_step)
  ret void

replay:
  %made = load ptr, ptr %replayed.at
  %code = call i32 inttoptr (i64 $replay to ptr)(ptr %made, ptr null)
  %failed = icmp ne i32 %code, 0
  br i1 %failed, label %failure, label %over

failure:
  %wide = zext i32 %code to i64
  store i64 %wide, ptr inttoptr (i64 $failure to ptr)
  ret void

single:
  call void @each_step(ptr %table, ptr @launch_step)
  ret void

over:
  ret void
}

; Call a function for each step, with its number and its record.
define internal void @each_step(ptr %table, ptr %function) nounwind {
entry:
  %steps.at = getelementptr i8, ptr %table, i64 $table_steps
  %records.at = getelementptr i8, ptr %table, i64 $table_records
  %steps = load i64, ptr %steps.at
  %records = load ptr, ptr %records.at
  br label %loop

loop:
  %number = phi i64 [ 0, %entry ], [ %number.next, %loop ]
  %offset = mul i64 %number, $step_bytes
  %record = getelementptr i8, ptr %records, i64 %offset
  call void %function(ptr %table, i64 %number, ptr %record)
  %number.next = add i64 %number, 1
  %more = icmp slt i64 %number.next, %steps
  br i1 %more, label %loop, label %over

over:
  ret void
}

; A grid without blocks cannot be launched, and a graph has no place for one.
define internal i1 @has_empty_step(ptr %table) nounwind {
entry:
  %steps.at = getelementptr i8, ptr %table, i64 $table_steps
  %records.at = getelementptr i8, ptr %table, i64 $table_records
  %steps = load i64, ptr %steps.at
  %records = load ptr, ptr %records.at
  br label %loop

loop:
  %number = phi i64 [ 0, %entry ], [ %number.next, %loop ]
  %empty = phi i1 [ false, %entry ], [ %empty.next, %loop ]
  %offset = mul i64 %number, $step_bytes
  %record = getelementptr i8, ptr %records, i64 %offset
  %tiles.at = getelementptr i8, ptr %record, i64 $step_tiles
  %tiles = load i64, ptr %tiles.at
  %is.empty = icmp sle i64 %tiles, 0
  %empty.next = or i1 %empty, %is.empty
  %number.next = add i64 %number, 1
  %more = icmp slt i64 %number.next, %steps
  br i1 %more, label %loop, label %over

over:
  ret i1 %empty.next
}

; Hand the launches of a step to a receiver, null for the GPU.
define internal void @give_step(ptr %record, ptr %receiver) nounwind {
  %kernel.at = getelementptr i8, ptr %record, i64 $step_kernel
  %arguments.at = getelementptr i8, ptr %record, i64 $step_arguments
  %tiles.at = getelementptr i8, ptr %record, i64 $step_tiles
  %kernel = load ptr, ptr %kernel.at
  %arguments = load ptr, ptr %arguments.at
  %tiles = load i64, ptr %tiles.at
  %fault = alloca i64
  %begin = ptrtoint ptr %receiver to i64
  call void %kernel(ptr %arguments, i64 %begin, i64 %tiles, ptr %fault)
  ret void
}

define internal void @launch_step(ptr %table, i64 %number, ptr %record) nounwind {
  %tiles.at = getelementptr i8, ptr %record, i64 $step_tiles
  %tiles = load i64, ptr %tiles.at
  %any = icmp sgt i64 %tiles, 0
  br i1 %any, label %launch, label %over

launch:
  call void @give_step(ptr %record, ptr null)
  ret void

over:
  ret void
}

; Remember the words and the tiles that the graph has for a step.
define internal void @note_step(ptr %table, i64 %number, ptr %record, ptr %copy, i64 %bytes)
    nounwind {
  %arguments.at = getelementptr i8, ptr %record, i64 $step_arguments
  %arguments = load ptr, ptr %arguments.at
  call void @llvm.memcpy.p0.p0.i64(ptr %copy, ptr %arguments, i64 %bytes, i1 false)
  %tiles.at = getelementptr i8, ptr %record, i64 $step_tiles
  %tiles = load i64, ptr %tiles.at
  %last.tiles.at = getelementptr i8, ptr %table, i64 $table_last_tiles
  %last.tiles = load ptr, ptr %last.tiles.at
  %last.at = getelementptr i64, ptr %last.tiles, i64 %number
  store i64 %tiles, ptr %last.at
  ret void
}

; Let the next run give a step's nodes what it has, whatever that is.
define internal void @forget_step(ptr %table, i64 %number, ptr %record) nounwind {
  %last.tiles.at = getelementptr i8, ptr %table, i64 $table_last_tiles
  %last.tiles = load ptr, ptr %last.tiles.at
  %last.at = getelementptr i64, ptr %last.tiles, i64 %number
  store i64 -1, ptr %last.at
  ret void
}

; How far behind the first word of the batch those of a step begin, and those of the next.
define internal { i64, i64 } @words_of(ptr %table, i64 %number, ptr %record) nounwind {
entry:
  %words.at = getelementptr i8, ptr %table, i64 $table_words
  %bytes.at = getelementptr i8, ptr %table, i64 $table_word_bytes
  %steps.at = getelementptr i8, ptr %table, i64 $table_steps
  %arguments.at = getelementptr i8, ptr %record, i64 $step_arguments
  %words = load i64, ptr %words.at
  %bytes = load i64, ptr %bytes.at
  %steps = load i64, ptr %steps.at
  %arguments = load i64, ptr %arguments.at
  %first = sub i64 %arguments, %words
  %number.next = add i64 %number, 1
  %is.last = icmp eq i64 %number.next, %steps
  br i1 %is.last, label %over, label %inner

inner:
  %next = getelementptr i8, ptr %record, i64 $step_bytes
  %next.arguments.at = getelementptr i8, ptr %next, i64 $step_arguments
  %next.arguments = load i64, ptr %next.arguments.at
  %distance = sub i64 %next.arguments, %words
  br label %over

over:
  %end = phi i64 [ %bytes, %entry ], [ %distance, %inner ]
  %half = insertvalue { i64, i64 } poison, i64 %first, 0
  %both = insertvalue { i64, i64 } %half, i64 %end, 1
  ret { i64, i64 } %both
}

; Give the nodes of a step what it has now, if that is not what they have.
define internal void @change_step(ptr %table, i64 %number, ptr %record) nounwind {
entry:
  %receiver = alloca [2 x ptr]
  %tiles.at = getelementptr i8, ptr %record, i64 $step_tiles
  %arguments.at = getelementptr i8, ptr %record, i64 $step_arguments
  %last.tiles.at = getelementptr i8, ptr %table, i64 $table_last_tiles
  %copies.at = getelementptr i8, ptr %table, i64 $table_last_words
  %tiles = load i64, ptr %tiles.at
  %arguments = load ptr, ptr %arguments.at
  %last.tiles = load ptr, ptr %last.tiles.at
  %copies = load ptr, ptr %copies.at
  %last.at = getelementptr i64, ptr %last.tiles, i64 %number
  %last = load i64, ptr %last.at
  %reach = call { i64, i64 } @words_of(ptr %table, i64 %number, ptr %record)
  %first = extractvalue { i64, i64 } %reach, 0
  %end = extractvalue { i64, i64 } %reach, 1
  %bytes = sub i64 %end, %first
  %copy = getelementptr i8, ptr %copies, i64 %first
  %is.longer = icmp ne i64 %tiles, %last
  br i1 %is.longer, label %change, label %compare

compare:
  %at = phi i64 [ 0, %entry ], [ %at.next, %same ]
  %is.over = icmp sge i64 %at, %bytes
  br i1 %is.over, label %over, label %word

word:
  %new.at = getelementptr i8, ptr %arguments, i64 %at
  %old.at = getelementptr i8, ptr %copy, i64 %at
  %new = load i64, ptr %new.at
  %old = load i64, ptr %old.at
  %at.next = add i64 %at, 8
  %is.same = icmp eq i64 %new, %old
  br i1 %is.same, label %same, label %change

same:
  br label %compare

change:
  call void @note_step(ptr %table, i64 %number, ptr %record, ptr %copy, i64 %bytes)
  %first.nodes.at = getelementptr i8, ptr %table, i64 $table_first_nodes
  %first.nodes = load ptr, ptr %first.nodes.at
  %first.at = getelementptr i64, ptr %first.nodes, i64 %number
  %node = load i64, ptr %first.at
  %cursor.at = getelementptr i8, ptr %table, i64 $table_cursor
  store i64 %node, ptr %cursor.at
  %receiver.table = getelementptr ptr, ptr %receiver, i64 1
  store ptr @into_node, ptr %receiver
  store ptr %table, ptr %receiver.table
  call void @give_step(ptr %record, ptr %receiver)
  br label %over

over:
  ret void
}

; A CUDA_KERNEL_NODE_PARAMS: function, grid, block, shared memory, parameters, extra; kernel and
; context are left out.
define internal i32 @into_node(
    ptr %receiver, ptr %configuration, ptr %function, ptr %parameters, ptr %extra) nounwind {
  %given = alloca [9 x i64], align 16
  %sizes = getelementptr i64, ptr %given, i64 1
  %parameters.at = getelementptr i8, ptr %given, i64 40
  %extra.at = getelementptr i8, ptr %given, i64 48
  %kernel.at = getelementptr i8, ptr %given, i64 56
  %context.at = getelementptr i8, ptr %given, i64 64
  store ptr %function, ptr %given
  call void @llvm.memcpy.p0.p0.i64(ptr %sizes, ptr %configuration, i64 28, i1 false)
  store ptr %parameters, ptr %parameters.at
  store ptr %extra, ptr %extra.at
  store ptr null, ptr %kernel.at
  store ptr null, ptr %context.at
  %table.at = getelementptr ptr, ptr %receiver, i64 1
  %table = load ptr, ptr %table.at
  %cursor.at = getelementptr i8, ptr %table, i64 $table_cursor
  %nodes.at = getelementptr i8, ptr %table, i64 $table_nodes
  %replayed.at = getelementptr i8, ptr %table, i64 $table_replayed
  %cursor = load i64, ptr %cursor.at
  %nodes = load ptr, ptr %nodes.at
  %replayed = load ptr, ptr %replayed.at
  %node.at = getelementptr ptr, ptr %nodes, i64 %cursor
  %node = load ptr, ptr %node.at
  %cursor.next = add i64 %cursor, 1
  store i64 %cursor.next, ptr %cursor.at
  %code = call i32 inttoptr (i64 $change to ptr)(ptr %replayed, ptr %node, ptr %given)
  ret i32 %code
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""

BATCH = _BATCH + CAPTURE
"""The module."""
