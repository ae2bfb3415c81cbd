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
  %v38 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v31
  %v39 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v33
  %v40 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v35
  %v41 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v37
  %v42 = getelementptr float, ptr %v6, i64 %v21
  %v43 = load <16 x float>, ptr %v42, align 4
  %v44 = getelementptr float, ptr %v42, i64 16
  %v45 = load <16 x float>, ptr %v44, align 4
  %v46 = getelementptr float, ptr %v42, i64 32
  %v47 = load <16 x float>, ptr %v46, align 4
  %v48 = getelementptr float, ptr %v42, i64 48
  %v49 = load <16 x float>, ptr %v48, align 4
  %v50 = fcmp olt <16 x float> %v43, splat (float 0x3FF0000000000000)
  %v51 = fcmp olt <16 x float> %v45, splat (float 0x3FF0000000000000)
  %v52 = fcmp olt <16 x float> %v47, splat (float 0x3FF0000000000000)
  %v53 = fcmp olt <16 x float> %v49, splat (float 0x3FF0000000000000)
  %v54 = and <16 x i1> %v38, %v50
  %v55 = and <16 x i1> %v39, %v51
  %v56 = and <16 x i1> %v40, %v52
  %v57 = and <16 x i1> %v41, %v53
  %v58 = zext <16 x i1> %v54 to <16 x i8>
  %v59 = getelementptr i8, ptr %v2, i64 %v21
  store <16 x i8> %v58, ptr %v59, align 1
  %v60 = zext <16 x i1> %v55 to <16 x i8>
  %v61 = getelementptr i8, ptr %v59, i64 16
  store <16 x i8> %v60, ptr %v61, align 1
  %v62 = zext <16 x i1> %v56 to <16 x i8>
  %v63 = getelementptr i8, ptr %v59, i64 32
  store <16 x i8> %v62, ptr %v63, align 1
  %v64 = zext <16 x i1> %v57 to <16 x i8>
  %v65 = getelementptr i8, ptr %v59, i64 48
  store <16 x i8> %v64, ptr %v65, align 1
  %v20 = add nuw nsw i64 %v19, 1
  %v66 = icmp slt i64 %v20, %v13
  br i1 %v66, label %b16, label %b17
b17:
  %v69 = icmp slt i64 %v15, %end
  br i1 %v69, label %b67, label %b68
b67:
  %v70 = phi i64 [ %v15, %b17 ], [ %v71, %b67 ]
  %v72 = mul i64 %v70, 64
  %v73 = mul i64 %v70, -64
  %v74 = add i64 %v73, %v8
  %v75 = add i64 %v73, -16
  %v76 = add i64 %v75, %v8
  %v77 = add i64 %v73, -32
  %v78 = add i64 %v77, %v8
  %v79 = add i64 %v73, -48
  %v80 = add i64 %v79, %v8
  %v81 = icmp slt i64 %v74, 16
  %v82 = select i1 %v81, i64 %v74, i64 16
  %v83 = icmp sgt i64 %v82, 0
  %v84 = select i1 %v83, i64 %v82, i64 0
  %v85 = trunc i64 %v84 to i32
  %v86 = insertelement <16 x i32> poison, i32 %v85, i64 0
  %v87 = shufflevector <16 x i32> %v86, <16 x i32> poison, <16 x i32> zeroinitializer
  %v88 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v87
  %v89 = icmp slt i64 %v76, 16
  %v90 = select i1 %v89, i64 %v76, i64 16
  %v91 = icmp sgt i64 %v90, 0
  %v92 = select i1 %v91, i64 %v90, i64 0
  %v93 = trunc i64 %v92 to i32
  %v94 = insertelement <16 x i32> poison, i32 %v93, i64 0
  %v95 = shufflevector <16 x i32> %v94, <16 x i32> poison, <16 x i32> zeroinitializer
  %v96 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v95
  %v97 = icmp slt i64 %v78, 16
  %v98 = select i1 %v97, i64 %v78, i64 16
  %v99 = icmp sgt i64 %v98, 0
  %v100 = select i1 %v99, i64 %v98, i64 0
  %v101 = trunc i64 %v100 to i32
  %v102 = insertelement <16 x i32> poison, i32 %v101, i64 0
  %v103 = shufflevector <16 x i32> %v102, <16 x i32> poison, <16 x i32> zeroinitializer
  %v104 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v103
  %v105 = icmp slt i64 %v80, 16
  %v106 = select i1 %v105, i64 %v80, i64 16
  %v107 = icmp sgt i64 %v106, 0
  %v108 = select i1 %v107, i64 %v106, i64 0
  %v109 = trunc i64 %v108 to i32
  %v110 = insertelement <16 x i32> poison, i32 %v109, i64 0
  %v111 = shufflevector <16 x i32> %v110, <16 x i32> poison, <16 x i32> zeroinitializer
  %v112 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v111
  %v113 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v88)
  %v114 = select i1 %v113, i64 %v72, i64 0
  %v115 = getelementptr float, ptr %v4, i64 %v114
  %v116 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v115, <16 x i1> %v88, <16 x float> zeroinitializer)
  %v117 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v96)
  %v118 = add i64 %v72, 16
  %v119 = select i1 %v117, i64 %v118, i64 0
  %v120 = getelementptr float, ptr %v4, i64 %v119
  %v121 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v120, <16 x i1> %v96, <16 x float> zeroinitializer)
  %v122 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v104)
  %v123 = add i64 %v72, 32
  %v124 = select i1 %v122, i64 %v123, i64 0
  %v125 = getelementptr float, ptr %v4, i64 %v124
  %v126 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v125, <16 x i1> %v104, <16 x float> zeroinitializer)
  %v127 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v112)
  %v128 = add i64 %v72, 48
  %v129 = select i1 %v127, i64 %v128, i64 0
  %v130 = getelementptr float, ptr %v4, i64 %v129
  %v131 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v130, <16 x i1> %v112, <16 x float> zeroinitializer)
  %v132 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v116
  %v133 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v121
  %v134 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v126
  %v135 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v131
  %v136 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v88)
  %v137 = select i1 %v136, i64 %v72, i64 0
  %v138 = getelementptr float, ptr %v6, i64 %v137
  %v139 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v138, <16 x i1> %v88, <16 x float> zeroinitializer)
  %v140 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v96)
  %v141 = select i1 %v140, i64 %v118, i64 0
  %v142 = getelementptr float, ptr %v6, i64 %v141
  %v143 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v142, <16 x i1> %v96, <16 x float> zeroinitializer)
  %v144 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v104)
  %v145 = select i1 %v144, i64 %v123, i64 0
  %v146 = getelementptr float, ptr %v6, i64 %v145
  %v147 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v146, <16 x i1> %v104, <16 x float> zeroinitializer)
  %v148 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v112)
  %v149 = select i1 %v148, i64 %v128, i64 0
  %v150 = getelementptr float, ptr %v6, i64 %v149
  %v151 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v150, <16 x i1> %v112, <16 x float> zeroinitializer)
  %v152 = fcmp olt <16 x float> %v139, splat (float 0x3FF0000000000000)
  %v153 = fcmp olt <16 x float> %v143, splat (float 0x3FF0000000000000)
  %v154 = fcmp olt <16 x float> %v147, splat (float 0x3FF0000000000000)
  %v155 = fcmp olt <16 x float> %v151, splat (float 0x3FF0000000000000)
  %v156 = and <16 x i1> %v132, %v152
  %v157 = and <16 x i1> %v133, %v153
  %v158 = and <16 x i1> %v134, %v154
  %v159 = and <16 x i1> %v135, %v155
  %v160 = zext <16 x i1> %v156 to <16 x i8>
  %v161 = getelementptr i8, ptr %v2, i64 %v72
  %v162 = call i64 asm "", "=r,0"(i64 0)
  %v163 = trunc i64 %v162 to i1
  %v164 = insertelement <16 x i1> poison, i1 %v163, i64 0
  %v165 = shufflevector <16 x i1> %v164, <16 x i1> poison, <16 x i32> zeroinitializer
  %v166 = xor <16 x i1> %v88, %v165
  call void @llvm.masked.store.v16i8.p0(<16 x i8> %v160, ptr align 1 %v161, <16 x i1> %v166)
  %v167 = zext <16 x i1> %v157 to <16 x i8>
  %v168 = getelementptr i8, ptr %v161, i64 16
  %v169 = xor <16 x i1> %v96, %v165
  call void @llvm.masked.store.v16i8.p0(<16 x i8> %v167, ptr align 1 %v168, <16 x i1> %v169)
  %v170 = zext <16 x i1> %v158 to <16 x i8>
  %v171 = getelementptr i8, ptr %v161, i64 32
  %v172 = xor <16 x i1> %v104, %v165
  call void @llvm.masked.store.v16i8.p0(<16 x i8> %v170, ptr align 1 %v171, <16 x i1> %v172)
  %v173 = zext <16 x i1> %v159 to <16 x i8>
  %v174 = getelementptr i8, ptr %v161, i64 48
  %v175 = xor <16 x i1> %v112, %v165
  call void @llvm.masked.store.v16i8.p0(<16 x i8> %v173, ptr align 1 %v174, <16 x i1> %v175)
  %v71 = add nuw nsw i64 %v70, 1
  %v176 = icmp slt i64 %v71, %end
  br i1 %v176, label %b67, label %b68
b68:
  ret void
}
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, <16 x i1>, <16 x float>)
declare i1 @llvm.vector.reduce.or.v16i1(<16 x i1>)
declare void @llvm.masked.store.v16i8.p0(<16 x i8>, ptr, <16 x i1>)
attributes #0 = { nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512" }
