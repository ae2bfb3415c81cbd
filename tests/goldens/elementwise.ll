; elementwise_parallel16_upcast4_lane16
; axes: parallel 16, upcast 4, lane 16
define void @"elementwise_parallel16_upcast4_lane16"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr inbounds i64, ptr %arguments, i64 2
  %v6 = load ptr, ptr %v5
  %v7 = mul i64 0, 16
  %v8 = mul i64 1, 16
  %v9 = mul i64 2, 16
  %v10 = mul i64 3, 16
  %v11 = mul i64 0, -16
  %v12 = mul i64 1, -16
  %v13 = mul i64 2, -16
  %v14 = mul i64 3, -16
  %v15 = icmp slt i64 %end, 15
  %v16 = select i1 %v15, i64 %end, i64 15
  %v17 = icmp sgt i64 %begin, 15
  %v18 = select i1 %v17, i64 %begin, i64 15
  %v21 = icmp slt i64 %begin, %v16
  br i1 %v21, label %b19, label %b20
b19:
  %v22 = phi i64 [ %begin, %entry ], [ %v23, %b19 ]
  %v24 = mul i64 %v22, 64
  %v25 = add i64 %v24, %v7
  %v26 = add i64 %v24, %v8
  %v27 = add i64 %v24, %v9
  %v28 = add i64 %v24, %v10
  %v29 = mul i64 %v22, -64
  %v30 = add i64 %v29, %v11
  %v31 = add i64 %v29, %v12
  %v32 = add i64 %v29, %v13
  %v33 = add i64 %v29, %v14
  %v34 = add i64 %v30, 1000
  %v35 = add i64 %v31, 1000
  %v36 = add i64 %v32, 1000
  %v37 = add i64 %v33, 1000
  %v38 = getelementptr float, ptr %v4, i64 %v25
  %v39 = load <16 x float>, ptr %v38, align 4
  %v40 = getelementptr float, ptr %v4, i64 %v26
  %v41 = load <16 x float>, ptr %v40, align 4
  %v42 = getelementptr float, ptr %v4, i64 %v27
  %v43 = load <16 x float>, ptr %v42, align 4
  %v44 = getelementptr float, ptr %v4, i64 %v28
  %v45 = load <16 x float>, ptr %v44, align 4
  %v46 = fmul <16 x float> %v39, splat (float 0x4000000000000000)
  %v47 = fmul <16 x float> %v41, splat (float 0x4000000000000000)
  %v48 = fmul <16 x float> %v43, splat (float 0x4000000000000000)
  %v49 = fmul <16 x float> %v45, splat (float 0x4000000000000000)
  %v50 = getelementptr float, ptr %v6, i64 %v25
  %v51 = load <16 x float>, ptr %v50, align 4
  %v52 = getelementptr float, ptr %v6, i64 %v26
  %v53 = load <16 x float>, ptr %v52, align 4
  %v54 = getelementptr float, ptr %v6, i64 %v27
  %v55 = load <16 x float>, ptr %v54, align 4
  %v56 = getelementptr float, ptr %v6, i64 %v28
  %v57 = load <16 x float>, ptr %v56, align 4
  %v58 = fadd <16 x float> %v46, %v51
  %v59 = fadd <16 x float> %v47, %v53
  %v60 = fadd <16 x float> %v48, %v55
  %v61 = fadd <16 x float> %v49, %v57
  %v62 = getelementptr float, ptr %v2, i64 %v25
  store <16 x float> %v58, ptr %v62, align 4
  %v63 = getelementptr float, ptr %v2, i64 %v26
  store <16 x float> %v59, ptr %v63, align 4
  %v64 = getelementptr float, ptr %v2, i64 %v27
  store <16 x float> %v60, ptr %v64, align 4
  %v65 = getelementptr float, ptr %v2, i64 %v28
  store <16 x float> %v61, ptr %v65, align 4
  %v23 = add nuw nsw i64 %v22, 1
  %v66 = icmp slt i64 %v23, %v16
  br i1 %v66, label %b19, label %b20
b20:
  %v69 = icmp slt i64 %v18, %end
  br i1 %v69, label %b67, label %b68
b67:
  %v70 = phi i64 [ %v18, %b20 ], [ %v71, %b67 ]
  %v72 = mul i64 %v70, 64
  %v73 = add i64 %v72, %v7
  %v74 = add i64 %v72, %v8
  %v75 = add i64 %v72, %v9
  %v76 = add i64 %v72, %v10
  %v77 = mul i64 %v70, -64
  %v78 = add i64 %v77, %v11
  %v79 = add i64 %v77, %v12
  %v80 = add i64 %v77, %v13
  %v81 = add i64 %v77, %v14
  %v82 = add i64 %v78, 1000
  %v83 = add i64 %v79, 1000
  %v84 = add i64 %v80, 1000
  %v85 = add i64 %v81, 1000
  %v86 = icmp slt i64 %v82, 16
  %v87 = select i1 %v86, i64 %v82, i64 16
  %v88 = icmp sgt i64 %v87, 0
  %v89 = select i1 %v88, i64 %v87, i64 0
  %v90 = trunc i64 %v89 to i32
  %v91 = insertelement <16 x i32> poison, i32 %v90, i64 0
  %v92 = shufflevector <16 x i32> %v91, <16 x i32> poison, <16 x i32> zeroinitializer
  %v93 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v92
  %v94 = icmp slt i64 %v83, 16
  %v95 = select i1 %v94, i64 %v83, i64 16
  %v96 = icmp sgt i64 %v95, 0
  %v97 = select i1 %v96, i64 %v95, i64 0
  %v98 = trunc i64 %v97 to i32
  %v99 = insertelement <16 x i32> poison, i32 %v98, i64 0
  %v100 = shufflevector <16 x i32> %v99, <16 x i32> poison, <16 x i32> zeroinitializer
  %v101 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v100
  %v102 = icmp slt i64 %v84, 16
  %v103 = select i1 %v102, i64 %v84, i64 16
  %v104 = icmp sgt i64 %v103, 0
  %v105 = select i1 %v104, i64 %v103, i64 0
  %v106 = trunc i64 %v105 to i32
  %v107 = insertelement <16 x i32> poison, i32 %v106, i64 0
  %v108 = shufflevector <16 x i32> %v107, <16 x i32> poison, <16 x i32> zeroinitializer
  %v109 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v108
  %v110 = icmp slt i64 %v85, 16
  %v111 = select i1 %v110, i64 %v85, i64 16
  %v112 = icmp sgt i64 %v111, 0
  %v113 = select i1 %v112, i64 %v111, i64 0
  %v114 = trunc i64 %v113 to i32
  %v115 = insertelement <16 x i32> poison, i32 %v114, i64 0
  %v116 = shufflevector <16 x i32> %v115, <16 x i32> poison, <16 x i32> zeroinitializer
  %v117 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v116
  %v118 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v93)
  %v119 = select i1 %v118, i64 %v73, i64 0
  %v120 = getelementptr float, ptr %v4, i64 %v119
  %v121 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v120, <16 x i1> %v93, <16 x float> zeroinitializer)
  %v122 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v101)
  %v123 = select i1 %v122, i64 %v74, i64 0
  %v124 = getelementptr float, ptr %v4, i64 %v123
  %v125 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v124, <16 x i1> %v101, <16 x float> zeroinitializer)
  %v126 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v109)
  %v127 = select i1 %v126, i64 %v75, i64 0
  %v128 = getelementptr float, ptr %v4, i64 %v127
  %v129 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v128, <16 x i1> %v109, <16 x float> zeroinitializer)
  %v130 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v117)
  %v131 = select i1 %v130, i64 %v76, i64 0
  %v132 = getelementptr float, ptr %v4, i64 %v131
  %v133 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v132, <16 x i1> %v117, <16 x float> zeroinitializer)
  %v134 = fmul <16 x float> %v121, splat (float 0x4000000000000000)
  %v135 = fmul <16 x float> %v125, splat (float 0x4000000000000000)
  %v136 = fmul <16 x float> %v129, splat (float 0x4000000000000000)
  %v137 = fmul <16 x float> %v133, splat (float 0x4000000000000000)
  %v138 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v93)
  %v139 = select i1 %v138, i64 %v73, i64 0
  %v140 = getelementptr float, ptr %v6, i64 %v139
  %v141 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v140, <16 x i1> %v93, <16 x float> zeroinitializer)
  %v142 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v101)
  %v143 = select i1 %v142, i64 %v74, i64 0
  %v144 = getelementptr float, ptr %v6, i64 %v143
  %v145 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v144, <16 x i1> %v101, <16 x float> zeroinitializer)
  %v146 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v109)
  %v147 = select i1 %v146, i64 %v75, i64 0
  %v148 = getelementptr float, ptr %v6, i64 %v147
  %v149 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v148, <16 x i1> %v109, <16 x float> zeroinitializer)
  %v150 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v117)
  %v151 = select i1 %v150, i64 %v76, i64 0
  %v152 = getelementptr float, ptr %v6, i64 %v151
  %v153 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v152, <16 x i1> %v117, <16 x float> zeroinitializer)
  %v154 = fadd <16 x float> %v134, %v141
  %v155 = fadd <16 x float> %v135, %v145
  %v156 = fadd <16 x float> %v136, %v149
  %v157 = fadd <16 x float> %v137, %v153
  %v158 = getelementptr float, ptr %v2, i64 %v73
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v154, ptr align 4 %v158, <16 x i1> %v93)
  %v159 = getelementptr float, ptr %v2, i64 %v74
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v155, ptr align 4 %v159, <16 x i1> %v101)
  %v160 = getelementptr float, ptr %v2, i64 %v75
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v156, ptr align 4 %v160, <16 x i1> %v109)
  %v161 = getelementptr float, ptr %v2, i64 %v76
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v157, ptr align 4 %v161, <16 x i1> %v117)
  %v71 = add nuw nsw i64 %v70, 1
  %v162 = icmp slt i64 %v71, %end
  br i1 %v162, label %b67, label %b68
b68:
  ret void
}
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, <16 x i1>, <16 x float>)
declare i1 @llvm.vector.reduce.or.v16i1(<16 x i1>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, <16 x i1>)
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
