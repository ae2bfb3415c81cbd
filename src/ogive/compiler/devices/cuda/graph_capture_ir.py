"""The LLVM IR that captures launches in a row as a CUDA graph; a part of `graph_batch_ir.py`.

Each step hands its launches to a receiver, which makes them on a stream that is being captured.
After each launch the receiver asks the driver for the graph node that it became.
"""

from __future__ import annotations

CAPTURE = """
; The launches of a step become nodes.
define internal void @capture_step(ptr %table, i64 %number, ptr %record) nounwind {
  %receiver = alloca [2 x ptr]
  %receiver.table = getelementptr ptr, ptr %receiver, i64 1
  store ptr @into_capture, ptr %receiver
  store ptr %table, ptr %receiver.table
  %count.at = getelementptr i8, ptr %table, i64 $table_count
  %count = load i64, ptr %count.at
  %first.nodes.at = getelementptr i8, ptr %table, i64 $table_first_nodes
  %first.nodes = load ptr, ptr %first.nodes.at
  %first.at = getelementptr i64, ptr %first.nodes, i64 %number
  store i64 %count, ptr %first.at
  %reach = call { i64, i64 } @words_of(ptr %table, i64 %number, ptr %record)
  %first = extractvalue { i64, i64 } %reach, 0
  %end = extractvalue { i64, i64 } %reach, 1
  %bytes = sub i64 %end, %first
  %copies.at = getelementptr i8, ptr %table, i64 $table_last_words
  %copies = load ptr, ptr %copies.at
  %copy = getelementptr i8, ptr %copies, i64 %first
  call void @note_step(ptr %table, i64 %number, ptr %record, ptr %copy, i64 %bytes)
  call void @give_step(ptr %record, ptr %receiver)
  ret void
}

define internal i32 @into_capture(
    ptr %receiver, ptr %given, ptr %function, ptr %parameters, ptr %extra) nounwind {
entry:
  %configuration = alloca [$configuration_bytes x i8], align 16
  %status = alloca i32
  %nodes.found = alloca ptr
  %edges.found = alloca ptr
  %number.found = alloca i64
  call void @llvm.memcpy.p0.p0.i64(
    ptr %configuration, ptr %given, i64 $configuration_bytes, i1 false)
  %stream.at = getelementptr i64, ptr %configuration, i64 4
  store i64 $stream, ptr %stream.at
  %launched = call i32 inttoptr (i64 $launch to ptr)(
    ptr %configuration, ptr %function, ptr %parameters, ptr %extra)
  %refused = icmp ne i32 %launched, 0
  br i1 %refused, label %failure, label %ask

ask:
  %told = call i32 inttoptr (i64 $info to ptr)(
    ptr inttoptr (i64 $stream to ptr), ptr %status, ptr null, ptr null, ptr %nodes.found,
    ptr %edges.found, ptr %number.found)
  %untold = icmp ne i32 %told, 0
  br i1 %untold, label %failure, label %note

note:
  %table.at = getelementptr ptr, ptr %receiver, i64 1
  %table = load ptr, ptr %table.at
  %count.at = getelementptr i8, ptr %table, i64 $table_count
  %room.at = getelementptr i8, ptr %table, i64 $table_room
  %nodes.at = getelementptr i8, ptr %table, i64 $table_nodes
  %count = load i64, ptr %count.at
  %room = load i64, ptr %room.at
  %nodes = load ptr, ptr %nodes.at
  %number = load i64, ptr %number.found
  %is.one = icmp eq i64 %number, 1
  %has.room = icmp slt i64 %count, %room
  %is.good = and i1 %is.one, %has.room
  br i1 %is.good, label %keep, label %failure

keep:
  %found = load ptr, ptr %nodes.found
  %node = load ptr, ptr %found
  %node.at = getelementptr ptr, ptr %nodes, i64 %count
  store ptr %node, ptr %node.at
  %count.next = add i64 %count, 1
  store i64 %count.next, ptr %count.at
  ret i32 0

failure:
  %code = phi i32 [ %launched, %entry ], [ %told, %ask ], [ 1, %note ]
  ret i32 %code
}

; Make the graph. Where that fails, launches stay what they are, and no more is tried.
define internal i1 @capture_graph(ptr %table) nounwind {
entry:
  %graph.at = getelementptr i8, ptr %table, i64 $table_graph
  %replayed.at = getelementptr i8, ptr %table, i64 $table_replayed
  %before = load i64, ptr inttoptr (i64 $failure to ptr)
  %begun = call i32 inttoptr (i64 $begin to ptr)(ptr inttoptr (i64 $stream to ptr), i32 2)
  %is.refused = icmp ne i32 %begun, 0
  br i1 %is.refused, label %none, label %steps

steps:
  call void @each_step(ptr %table, ptr @capture_step)
  %ended = call i32 inttoptr (i64 $end to ptr)(
    ptr inttoptr (i64 $stream to ptr), ptr %graph.at)
  %after = load i64, ptr inttoptr (i64 $failure to ptr)
  store i64 %before, ptr inttoptr (i64 $failure to ptr)
  %is.ended = icmp eq i32 %ended, 0
  %is.same = icmp eq i64 %after, %before
  %is.good = and i1 %is.ended, %is.same
  br i1 %is.good, label %ready, label %drop

ready:
  %graph = load ptr, ptr %graph.at
  %code = call i32 inttoptr (i64 $instantiate to ptr)(ptr %replayed.at, ptr %graph, i64 0)
  %is.made = icmp eq i32 %code, 0
  br i1 %is.made, label %made, label %drop

made:
  ret i1 true

drop:
  store ptr null, ptr %replayed.at
  %dropped = load ptr, ptr %graph.at
  store ptr null, ptr %graph.at
  %is.there = icmp ne ptr %dropped, null
  br i1 %is.there, label %destroy, label %none

destroy:
  %destroyed = call i32 inttoptr (i64 $destroy to ptr)(ptr %dropped)
  br label %none

none:
  ret i1 false
}
"""
