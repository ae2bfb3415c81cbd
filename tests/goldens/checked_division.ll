; elementwise_parallel2_lane16
; axes: parallel 2, lane 16
define void @"elementwise_parallel2_lane16"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr inbounds i64, ptr %arguments, i64 2
  %v6 = load ptr, ptr %v5
  %v7 = icmp slt i64 %end, 1
  %v8 = select i1 %v7, i64 %end, i64 1
  %v9 = icmp sgt i64 %begin, 1
  %v10 = select i1 %v9, i64 %begin, i64 1
  %v13 = icmp slt i64 %begin, %v8
  br i1 %v13, label %b11, label %b12
b11:
  %v14 = phi i64 [ %begin, %entry ], [ %v15, %b27 ]
  %v16 = mul i64 %v14, 16
  %v17 = mul i64 %v14, -16
  %v18 = add i64 %v17, 20
  %v19 = getelementptr i32, ptr %v4, i64 %v16
  %v20 = load <16 x i32>, ptr %v19, align 4
  %v21 = getelementptr i32, ptr %v6, i64 %v16
  %v22 = load <16 x i32>, ptr %v21, align 4
  %v23 = icmp ne <16 x i32> %v22, splat (i32 0)
  %v24 = xor <16 x i1> %v23, splat (i1 true)
  %v25 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v24)
  br i1 %v25, label %b26, label %b27
b26:
  %v28 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b27
b27:
  %v29 = select <16 x i1> %v23, <16 x i32> %v22, <16 x i32> splat (i32 1)
  %v30 = icmp eq <16 x i32> %v29, splat (i32 -1)
  %v31 = select <16 x i1> %v30, <16 x i32> splat (i32 1), <16 x i32> %v29
  %v32 = srem <16 x i32> %v20, %v31
  %v33 = icmp ne <16 x i32> %v32, splat (i32 0)
  %v34 = xor <16 x i32> %v32, %v31
  %v35 = icmp slt <16 x i32> %v34, splat (i32 0)
  %v36 = and <16 x i1> %v33, %v35
  %v37 = sdiv <16 x i32> %v20, %v31
  %v38 = sub <16 x i32> %v37, splat (i32 1)
  %v39 = select <16 x i1> %v36, <16 x i32> %v38, <16 x i32> %v37
  %v40 = sub <16 x i32> splat (i32 0), %v20
  %v41 = select <16 x i1> %v30, <16 x i32> %v40, <16 x i32> %v39
  %v42 = getelementptr i32, ptr %v2, i64 %v16
  store <16 x i32> %v41, ptr %v42, align 4
  %v15 = add nuw nsw i64 %v14, 1
  %v43 = icmp slt i64 %v15, %v8
  br i1 %v43, label %b11, label %b12
b12:
  %v46 = icmp slt i64 %v10, %end
  br i1 %v46, label %b44, label %b45
b44:
  %v47 = phi i64 [ %v10, %b12 ], [ %v48, %b73 ]
  %v49 = mul i64 %v47, 16
  %v50 = mul i64 %v47, -16
  %v51 = add i64 %v50, 20
  %v52 = icmp slt i64 %v51, 16
  %v53 = select i1 %v52, i64 %v51, i64 16
  %v54 = icmp sgt i64 %v53, 0
  %v55 = select i1 %v54, i64 %v53, i64 0
  %v56 = trunc i64 %v55 to i32
  %v57 = insertelement <16 x i32> poison, i32 %v56, i64 0
  %v58 = shufflevector <16 x i32> %v57, <16 x i32> poison, <16 x i32> zeroinitializer
  %v59 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v58
  %v60 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v59)
  %v61 = select i1 %v60, i64 %v49, i64 0
  %v62 = getelementptr i32, ptr %v4, i64 %v61
  %v63 = call <16 x i32> @llvm.masked.load.v16i32.p0(ptr align 4 %v62, <16 x i1> %v59, <16 x i32> zeroinitializer)
  %v64 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v59)
  %v65 = select i1 %v64, i64 %v49, i64 0
  %v66 = getelementptr i32, ptr %v6, i64 %v65
  %v67 = call <16 x i32> @llvm.masked.load.v16i32.p0(ptr align 4 %v66, <16 x i1> %v59, <16 x i32> zeroinitializer)
  %v68 = icmp ne <16 x i32> %v67, splat (i32 0)
  %v69 = xor <16 x i1> %v68, splat (i1 true)
  %v70 = and <16 x i1> %v69, %v59
  %v71 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v70)
  br i1 %v71, label %b72, label %b73
b72:
  %v74 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b73
b73:
  %v75 = select <16 x i1> %v68, <16 x i32> %v67, <16 x i32> splat (i32 1)
  %v76 = icmp eq <16 x i32> %v75, splat (i32 -1)
  %v77 = select <16 x i1> %v76, <16 x i32> splat (i32 1), <16 x i32> %v75
  %v78 = srem <16 x i32> %v63, %v77
  %v79 = icmp ne <16 x i32> %v78, splat (i32 0)
  %v80 = xor <16 x i32> %v78, %v77
  %v81 = icmp slt <16 x i32> %v80, splat (i32 0)
  %v82 = and <16 x i1> %v79, %v81
  %v83 = sdiv <16 x i32> %v63, %v77
  %v84 = sub <16 x i32> %v83, splat (i32 1)
  %v85 = select <16 x i1> %v82, <16 x i32> %v84, <16 x i32> %v83
  %v86 = sub <16 x i32> splat (i32 0), %v63
  %v87 = select <16 x i1> %v76, <16 x i32> %v86, <16 x i32> %v85
  %v88 = getelementptr i32, ptr %v2, i64 %v49
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %v87, ptr align 4 %v88, <16 x i1> %v59)
  %v48 = add nuw nsw i64 %v47, 1
  %v89 = icmp slt i64 %v48, %end
  br i1 %v89, label %b44, label %b45
b45:
  ret void
}
declare <16 x i32> @llvm.masked.load.v16i32.p0(ptr, <16 x i1>, <16 x i32>)
declare i1 @llvm.vector.reduce.or.v16i1(<16 x i1>)
declare void @llvm.masked.store.v16i32.p0(<16 x i32>, ptr, <16 x i1>)
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
