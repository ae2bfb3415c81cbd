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
  %v113 = getelementptr float, ptr %v4, i64 %v72
  %v114 = load <16 x float>, ptr %v113, align 4
  %v115 = getelementptr float, ptr %v113, i64 16
  %v116 = load <16 x float>, ptr %v115, align 4
  %v117 = getelementptr float, ptr %v113, i64 32
  %v118 = load <16 x float>, ptr %v117, align 4
  %v119 = getelementptr float, ptr %v113, i64 48
  %v120 = load <16 x float>, ptr %v119, align 4
  %v121 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v114
  %v122 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v116
  %v123 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v118
  %v124 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v120
  %v125 = getelementptr float, ptr %v6, i64 %v72
  %v126 = load <16 x float>, ptr %v125, align 4
  %v127 = getelementptr float, ptr %v125, i64 16
  %v128 = load <16 x float>, ptr %v127, align 4
  %v129 = getelementptr float, ptr %v125, i64 32
  %v130 = load <16 x float>, ptr %v129, align 4
  %v131 = getelementptr float, ptr %v125, i64 48
  %v132 = load <16 x float>, ptr %v131, align 4
  %v133 = fcmp olt <16 x float> %v126, splat (float 0x3FF0000000000000)
  %v134 = fcmp olt <16 x float> %v128, splat (float 0x3FF0000000000000)
  %v135 = fcmp olt <16 x float> %v130, splat (float 0x3FF0000000000000)
  %v136 = fcmp olt <16 x float> %v132, splat (float 0x3FF0000000000000)
  %v137 = and <16 x i1> %v121, %v133
  %v138 = and <16 x i1> %v122, %v134
  %v139 = and <16 x i1> %v123, %v135
  %v140 = and <16 x i1> %v124, %v136
  %v141 = zext <16 x i1> %v137 to <16 x i8>
  %v142 = getelementptr i8, ptr %v2, i64 %v72
  %v143 = call i64 asm "", "=r,0"(i64 1)
  %v144 = trunc i64 %v143 to i1
  %v145 = insertelement <16 x i1> poison, i1 %v144, i64 0
  %v146 = shufflevector <16 x i1> %v145, <16 x i1> poison, <16 x i32> zeroinitializer
  %v147 = and <16 x i1> %v88, %v146
  call void @llvm.masked.store.v16i8.p0(<16 x i8> %v141, ptr align 1 %v142, <16 x i1> %v147)
  %v148 = zext <16 x i1> %v138 to <16 x i8>
  %v149 = getelementptr i8, ptr %v142, i64 16
  %v150 = and <16 x i1> %v96, %v146
  call void @llvm.masked.store.v16i8.p0(<16 x i8> %v148, ptr align 1 %v149, <16 x i1> %v150)
  %v151 = zext <16 x i1> %v139 to <16 x i8>
  %v152 = getelementptr i8, ptr %v142, i64 32
  %v153 = and <16 x i1> %v104, %v146
  call void @llvm.masked.store.v16i8.p0(<16 x i8> %v151, ptr align 1 %v152, <16 x i1> %v153)
  %v154 = zext <16 x i1> %v140 to <16 x i8>
  %v155 = getelementptr i8, ptr %v142, i64 48
  %v156 = and <16 x i1> %v112, %v146
  call void @llvm.masked.store.v16i8.p0(<16 x i8> %v154, ptr align 1 %v155, <16 x i1> %v156)
  %v71 = add nuw nsw i64 %v70, 1
  %v157 = icmp slt i64 %v71, %end
  br i1 %v157, label %b67, label %b68
b68:
  ret void
}
declare void @llvm.masked.store.v16i8.p0(<16 x i8>, ptr, <16 x i1>)
attributes #0 = { nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512" }
