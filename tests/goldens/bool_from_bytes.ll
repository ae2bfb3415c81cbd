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
  %v11 = mul i64 0, 16
  %v12 = mul i64 1, 16
  %v13 = mul i64 2, 16
  %v14 = mul i64 3, 16
  %v15 = mul i64 0, -16
  %v16 = mul i64 1, -16
  %v17 = mul i64 2, -16
  %v18 = mul i64 3, -16
  %v19 = udiv i64 %v8, 64
  %v20 = icmp slt i64 %end, %v19
  %v21 = select i1 %v20, i64 %end, i64 %v19
  %v22 = icmp sgt i64 %begin, %v19
  %v23 = select i1 %v22, i64 %begin, i64 %v19
  %v26 = icmp slt i64 %begin, %v21
  br i1 %v26, label %b24, label %b25
b24:
  %v27 = phi i64 [ %begin, %entry ], [ %v28, %b24 ]
  %v29 = mul i64 %v27, 64
  %v30 = add i64 %v29, %v11
  %v31 = add i64 %v29, %v12
  %v32 = add i64 %v29, %v13
  %v33 = add i64 %v29, %v14
  %v34 = mul i64 %v27, -64
  %v35 = add i64 %v34, %v15
  %v36 = add i64 %v34, %v16
  %v37 = add i64 %v34, %v17
  %v38 = add i64 %v34, %v18
  %v39 = add i64 %v35, %v8
  %v40 = add i64 %v36, %v8
  %v41 = add i64 %v37, %v8
  %v42 = add i64 %v38, %v8
  %v43 = getelementptr float, ptr %v4, i64 %v30
  %v44 = load <16 x float>, ptr %v43, align 4
  %v45 = getelementptr float, ptr %v4, i64 %v31
  %v46 = load <16 x float>, ptr %v45, align 4
  %v47 = getelementptr float, ptr %v4, i64 %v32
  %v48 = load <16 x float>, ptr %v47, align 4
  %v49 = getelementptr float, ptr %v4, i64 %v33
  %v50 = load <16 x float>, ptr %v49, align 4
  %v51 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v44
  %v52 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v46
  %v53 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v48
  %v54 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v50
  %v55 = getelementptr float, ptr %v6, i64 %v30
  %v56 = load <16 x float>, ptr %v55, align 4
  %v57 = getelementptr float, ptr %v6, i64 %v31
  %v58 = load <16 x float>, ptr %v57, align 4
  %v59 = getelementptr float, ptr %v6, i64 %v32
  %v60 = load <16 x float>, ptr %v59, align 4
  %v61 = getelementptr float, ptr %v6, i64 %v33
  %v62 = load <16 x float>, ptr %v61, align 4
  %v63 = fcmp olt <16 x float> %v56, splat (float 0x3FF0000000000000)
  %v64 = fcmp olt <16 x float> %v58, splat (float 0x3FF0000000000000)
  %v65 = fcmp olt <16 x float> %v60, splat (float 0x3FF0000000000000)
  %v66 = fcmp olt <16 x float> %v62, splat (float 0x3FF0000000000000)
  %v67 = and <16 x i1> %v51, %v63
  %v68 = and <16 x i1> %v52, %v64
  %v69 = and <16 x i1> %v53, %v65
  %v70 = and <16 x i1> %v54, %v66
  %v71 = zext <16 x i1> %v67 to <16 x i8>
  %v72 = getelementptr i8, ptr %v2, i64 %v30
  store <16 x i8> %v71, ptr %v72, align 1
  %v73 = zext <16 x i1> %v68 to <16 x i8>
  %v74 = getelementptr i8, ptr %v2, i64 %v31
  store <16 x i8> %v73, ptr %v74, align 1
  %v75 = zext <16 x i1> %v69 to <16 x i8>
  %v76 = getelementptr i8, ptr %v2, i64 %v32
  store <16 x i8> %v75, ptr %v76, align 1
  %v77 = zext <16 x i1> %v70 to <16 x i8>
  %v78 = getelementptr i8, ptr %v2, i64 %v33
  store <16 x i8> %v77, ptr %v78, align 1
  %v28 = add nuw nsw i64 %v27, 1
  %v79 = icmp slt i64 %v28, %v21
  br i1 %v79, label %b24, label %b25
b25:
  %v82 = icmp slt i64 %v23, %end
  br i1 %v82, label %b80, label %b81
b80:
  %v83 = phi i64 [ %v23, %b25 ], [ %v84, %b80 ]
  %v85 = mul i64 %v83, 64
  %v86 = add i64 %v85, %v11
  %v87 = add i64 %v85, %v12
  %v88 = add i64 %v85, %v13
  %v89 = add i64 %v85, %v14
  %v90 = mul i64 %v83, -64
  %v91 = add i64 %v90, %v15
  %v92 = add i64 %v90, %v16
  %v93 = add i64 %v90, %v17
  %v94 = add i64 %v90, %v18
  %v95 = add i64 %v91, %v8
  %v96 = add i64 %v92, %v8
  %v97 = add i64 %v93, %v8
  %v98 = add i64 %v94, %v8
  %v99 = icmp slt i64 %v95, 16
  %v100 = select i1 %v99, i64 %v95, i64 16
  %v101 = icmp sgt i64 %v100, 0
  %v102 = select i1 %v101, i64 %v100, i64 0
  %v103 = trunc i64 %v102 to i32
  %v104 = insertelement <16 x i32> poison, i32 %v103, i64 0
  %v105 = shufflevector <16 x i32> %v104, <16 x i32> poison, <16 x i32> zeroinitializer
  %v106 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v105
  %v107 = icmp slt i64 %v96, 16
  %v108 = select i1 %v107, i64 %v96, i64 16
  %v109 = icmp sgt i64 %v108, 0
  %v110 = select i1 %v109, i64 %v108, i64 0
  %v111 = trunc i64 %v110 to i32
  %v112 = insertelement <16 x i32> poison, i32 %v111, i64 0
  %v113 = shufflevector <16 x i32> %v112, <16 x i32> poison, <16 x i32> zeroinitializer
  %v114 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v113
  %v115 = icmp slt i64 %v97, 16
  %v116 = select i1 %v115, i64 %v97, i64 16
  %v117 = icmp sgt i64 %v116, 0
  %v118 = select i1 %v117, i64 %v116, i64 0
  %v119 = trunc i64 %v118 to i32
  %v120 = insertelement <16 x i32> poison, i32 %v119, i64 0
  %v121 = shufflevector <16 x i32> %v120, <16 x i32> poison, <16 x i32> zeroinitializer
  %v122 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v121
  %v123 = icmp slt i64 %v98, 16
  %v124 = select i1 %v123, i64 %v98, i64 16
  %v125 = icmp sgt i64 %v124, 0
  %v126 = select i1 %v125, i64 %v124, i64 0
  %v127 = trunc i64 %v126 to i32
  %v128 = insertelement <16 x i32> poison, i32 %v127, i64 0
  %v129 = shufflevector <16 x i32> %v128, <16 x i32> poison, <16 x i32> zeroinitializer
  %v130 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v129
  %v131 = getelementptr float, ptr %v4, i64 %v86
  %v132 = load <16 x float>, ptr %v131, align 4
  %v133 = getelementptr float, ptr %v4, i64 %v87
  %v134 = load <16 x float>, ptr %v133, align 4
  %v135 = getelementptr float, ptr %v4, i64 %v88
  %v136 = load <16 x float>, ptr %v135, align 4
  %v137 = getelementptr float, ptr %v4, i64 %v89
  %v138 = load <16 x float>, ptr %v137, align 4
  %v139 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v132
  %v140 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v134
  %v141 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v136
  %v142 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v138
  %v143 = getelementptr float, ptr %v6, i64 %v86
  %v144 = load <16 x float>, ptr %v143, align 4
  %v145 = getelementptr float, ptr %v6, i64 %v87
  %v146 = load <16 x float>, ptr %v145, align 4
  %v147 = getelementptr float, ptr %v6, i64 %v88
  %v148 = load <16 x float>, ptr %v147, align 4
  %v149 = getelementptr float, ptr %v6, i64 %v89
  %v150 = load <16 x float>, ptr %v149, align 4
  %v151 = fcmp olt <16 x float> %v144, splat (float 0x3FF0000000000000)
  %v152 = fcmp olt <16 x float> %v146, splat (float 0x3FF0000000000000)
  %v153 = fcmp olt <16 x float> %v148, splat (float 0x3FF0000000000000)
  %v154 = fcmp olt <16 x float> %v150, splat (float 0x3FF0000000000000)
  %v155 = and <16 x i1> %v139, %v151
  %v156 = and <16 x i1> %v140, %v152
  %v157 = and <16 x i1> %v141, %v153
  %v158 = and <16 x i1> %v142, %v154
  %v159 = zext <16 x i1> %v155 to <16 x i8>
  %v160 = getelementptr i8, ptr %v2, i64 %v86
  call void @llvm.masked.store.v16i8.p0(<16 x i8> %v159, ptr align 1 %v160, <16 x i1> %v106)
  %v161 = zext <16 x i1> %v156 to <16 x i8>
  %v162 = getelementptr i8, ptr %v2, i64 %v87
  call void @llvm.masked.store.v16i8.p0(<16 x i8> %v161, ptr align 1 %v162, <16 x i1> %v114)
  %v163 = zext <16 x i1> %v157 to <16 x i8>
  %v164 = getelementptr i8, ptr %v2, i64 %v88
  call void @llvm.masked.store.v16i8.p0(<16 x i8> %v163, ptr align 1 %v164, <16 x i1> %v122)
  %v165 = zext <16 x i1> %v158 to <16 x i8>
  %v166 = getelementptr i8, ptr %v2, i64 %v89
  call void @llvm.masked.store.v16i8.p0(<16 x i8> %v165, ptr align 1 %v166, <16 x i1> %v130)
  %v84 = add nuw nsw i64 %v83, 1
  %v167 = icmp slt i64 %v84, %end
  br i1 %v167, label %b80, label %b81
b81:
  ret void
}
declare void @llvm.masked.store.v16i8.p0(<16 x i8>, ptr, <16 x i1>)
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
