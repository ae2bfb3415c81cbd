; elementwise_parallelN_upcast4_lane16
; axes: parallel 17179869184, upcast 4, lane 16
define void @"elementwise_parallelN_upcast4_lane16"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr inbounds i64, ptr %arguments, i64 2
  %v6 = load ptr, ptr %v5
  %v7 = getelementptr inbounds i64, ptr %arguments, i64 3
  %v8 = load i64, ptr %v7
  %v9 = add i64 %v8, 63
  %v10 = udiv i64 %v9, 64
  %v11 = udiv i64 %v8, 64
  %v12 = icmp slt i64 %end, %v11
  %v13 = select i1 %v12, i64 %end, i64 %v11
  %v14 = icmp sgt i64 %begin, %v11
  %v15 = select i1 %v14, i64 %begin, i64 %v11
  %v18 = icmp slt i64 %begin, %v13
  br i1 %v18, label %b16, label %b17
b16:
  %v19 = phi i64 [ %begin, %entry ], [ %v20, %b16 ]
  %v21 = mul i64 %v19, 64
  %v22 = mul i64 %v19, -64
  %v23 = add i64 %v22, %v8
  %v24 = add i64 %v22, -16
  %v25 = add i64 %v24, %v8
  %v26 = add i64 %v22, -32
  %v27 = add i64 %v26, %v8
  %v28 = add i64 %v22, -48
  %v29 = add i64 %v28, %v8
  %v30 = getelementptr float, ptr %v4, i64 %v21
  %v31 = load <16 x float>, ptr %v30, align 4
  %v32 = getelementptr float, ptr %v30, i64 16
  %v33 = load <16 x float>, ptr %v32, align 4
  %v34 = getelementptr float, ptr %v30, i64 32
  %v35 = load <16 x float>, ptr %v34, align 4
  %v36 = getelementptr float, ptr %v30, i64 48
  %v37 = load <16 x float>, ptr %v36, align 4
  %v38 = fmul <16 x float> %v31, splat (float 0x4000000000000000)
  %v39 = fmul <16 x float> %v33, splat (float 0x4000000000000000)
  %v40 = fmul <16 x float> %v35, splat (float 0x4000000000000000)
  %v41 = fmul <16 x float> %v37, splat (float 0x4000000000000000)
  %v42 = getelementptr float, ptr %v6, i64 %v21
  %v43 = load <16 x float>, ptr %v42, align 4
  %v44 = getelementptr float, ptr %v42, i64 16
  %v45 = load <16 x float>, ptr %v44, align 4
  %v46 = getelementptr float, ptr %v42, i64 32
  %v47 = load <16 x float>, ptr %v46, align 4
  %v48 = getelementptr float, ptr %v42, i64 48
  %v49 = load <16 x float>, ptr %v48, align 4
  %v50 = fadd <16 x float> %v38, %v43
  %v51 = fadd <16 x float> %v39, %v45
  %v52 = fadd <16 x float> %v40, %v47
  %v53 = fadd <16 x float> %v41, %v49
  %v54 = getelementptr float, ptr %v2, i64 %v21
  store <16 x float> %v50, ptr %v54, align 4
  %v55 = getelementptr float, ptr %v54, i64 16
  store <16 x float> %v51, ptr %v55, align 4
  %v56 = getelementptr float, ptr %v54, i64 32
  store <16 x float> %v52, ptr %v56, align 4
  %v57 = getelementptr float, ptr %v54, i64 48
  store <16 x float> %v53, ptr %v57, align 4
  %v20 = add nuw nsw i64 %v19, 1
  %v58 = icmp slt i64 %v20, %v13
  br i1 %v58, label %b16, label %b17
b17:
  %v61 = icmp slt i64 %v15, %end
  br i1 %v61, label %b59, label %b60
b59:
  %v62 = phi i64 [ %v15, %b17 ], [ %v63, %b59 ]
  %v64 = mul i64 %v62, 64
  %v65 = mul i64 %v62, -64
  %v66 = add i64 %v65, %v8
  %v67 = add i64 %v65, -16
  %v68 = add i64 %v67, %v8
  %v69 = add i64 %v65, -32
  %v70 = add i64 %v69, %v8
  %v71 = add i64 %v65, -48
  %v72 = add i64 %v71, %v8
  %v73 = icmp slt i64 %v66, 16
  %v74 = select i1 %v73, i64 %v66, i64 16
  %v75 = icmp sgt i64 %v74, 0
  %v76 = select i1 %v75, i64 %v74, i64 0
  %v77 = trunc i64 %v76 to i32
  %v78 = insertelement <16 x i32> poison, i32 %v77, i64 0
  %v79 = shufflevector <16 x i32> %v78, <16 x i32> poison, <16 x i32> zeroinitializer
  %v80 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v79
  %v81 = icmp slt i64 %v68, 16
  %v82 = select i1 %v81, i64 %v68, i64 16
  %v83 = icmp sgt i64 %v82, 0
  %v84 = select i1 %v83, i64 %v82, i64 0
  %v85 = trunc i64 %v84 to i32
  %v86 = insertelement <16 x i32> poison, i32 %v85, i64 0
  %v87 = shufflevector <16 x i32> %v86, <16 x i32> poison, <16 x i32> zeroinitializer
  %v88 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v87
  %v89 = icmp slt i64 %v70, 16
  %v90 = select i1 %v89, i64 %v70, i64 16
  %v91 = icmp sgt i64 %v90, 0
  %v92 = select i1 %v91, i64 %v90, i64 0
  %v93 = trunc i64 %v92 to i32
  %v94 = insertelement <16 x i32> poison, i32 %v93, i64 0
  %v95 = shufflevector <16 x i32> %v94, <16 x i32> poison, <16 x i32> zeroinitializer
  %v96 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v95
  %v97 = icmp slt i64 %v72, 16
  %v98 = select i1 %v97, i64 %v72, i64 16
  %v99 = icmp sgt i64 %v98, 0
  %v100 = select i1 %v99, i64 %v98, i64 0
  %v101 = trunc i64 %v100 to i32
  %v102 = insertelement <16 x i32> poison, i32 %v101, i64 0
  %v103 = shufflevector <16 x i32> %v102, <16 x i32> poison, <16 x i32> zeroinitializer
  %v104 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v103
  %v105 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v80)
  %v106 = select i1 %v105, i64 %v64, i64 0
  %v107 = getelementptr float, ptr %v4, i64 %v106
  %v108 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v107, <16 x i1> %v80, <16 x float> zeroinitializer)
  %v109 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v88)
  %v110 = add i64 %v64, 16
  %v111 = select i1 %v109, i64 %v110, i64 0
  %v112 = getelementptr float, ptr %v4, i64 %v111
  %v113 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v112, <16 x i1> %v88, <16 x float> zeroinitializer)
  %v114 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v96)
  %v115 = add i64 %v64, 32
  %v116 = select i1 %v114, i64 %v115, i64 0
  %v117 = getelementptr float, ptr %v4, i64 %v116
  %v118 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v117, <16 x i1> %v96, <16 x float> zeroinitializer)
  %v119 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v104)
  %v120 = add i64 %v64, 48
  %v121 = select i1 %v119, i64 %v120, i64 0
  %v122 = getelementptr float, ptr %v4, i64 %v121
  %v123 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v122, <16 x i1> %v104, <16 x float> zeroinitializer)
  %v124 = fmul <16 x float> %v108, splat (float 0x4000000000000000)
  %v125 = fmul <16 x float> %v113, splat (float 0x4000000000000000)
  %v126 = fmul <16 x float> %v118, splat (float 0x4000000000000000)
  %v127 = fmul <16 x float> %v123, splat (float 0x4000000000000000)
  %v128 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v80)
  %v129 = select i1 %v128, i64 %v64, i64 0
  %v130 = getelementptr float, ptr %v6, i64 %v129
  %v131 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v130, <16 x i1> %v80, <16 x float> zeroinitializer)
  %v132 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v88)
  %v133 = select i1 %v132, i64 %v110, i64 0
  %v134 = getelementptr float, ptr %v6, i64 %v133
  %v135 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v134, <16 x i1> %v88, <16 x float> zeroinitializer)
  %v136 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v96)
  %v137 = select i1 %v136, i64 %v115, i64 0
  %v138 = getelementptr float, ptr %v6, i64 %v137
  %v139 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v138, <16 x i1> %v96, <16 x float> zeroinitializer)
  %v140 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v104)
  %v141 = select i1 %v140, i64 %v120, i64 0
  %v142 = getelementptr float, ptr %v6, i64 %v141
  %v143 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v142, <16 x i1> %v104, <16 x float> zeroinitializer)
  %v144 = fadd <16 x float> %v124, %v131
  %v145 = fadd <16 x float> %v125, %v135
  %v146 = fadd <16 x float> %v126, %v139
  %v147 = fadd <16 x float> %v127, %v143
  %v148 = getelementptr float, ptr %v2, i64 %v64
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v144, ptr align 4 %v148, <16 x i1> %v80)
  %v149 = getelementptr float, ptr %v148, i64 16
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v145, ptr align 4 %v149, <16 x i1> %v88)
  %v150 = getelementptr float, ptr %v148, i64 32
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v146, ptr align 4 %v150, <16 x i1> %v96)
  %v151 = getelementptr float, ptr %v148, i64 48
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v147, ptr align 4 %v151, <16 x i1> %v104)
  %v63 = add nuw nsw i64 %v62, 1
  %v152 = icmp slt i64 %v63, %end
  br i1 %v152, label %b59, label %b60
b60:
  ret void
}
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, <16 x i1>, <16 x float>)
declare i1 @llvm.vector.reduce.or.v16i1(<16 x i1>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, <16 x i1>)
attributes #0 = { nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512" }
