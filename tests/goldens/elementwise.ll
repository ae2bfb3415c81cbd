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
  %v51 = fmul <16 x float> %v44, splat (float 0x4000000000000000)
  %v52 = fmul <16 x float> %v46, splat (float 0x4000000000000000)
  %v53 = fmul <16 x float> %v48, splat (float 0x4000000000000000)
  %v54 = fmul <16 x float> %v50, splat (float 0x4000000000000000)
  %v55 = getelementptr float, ptr %v6, i64 %v30
  %v56 = load <16 x float>, ptr %v55, align 4
  %v57 = getelementptr float, ptr %v6, i64 %v31
  %v58 = load <16 x float>, ptr %v57, align 4
  %v59 = getelementptr float, ptr %v6, i64 %v32
  %v60 = load <16 x float>, ptr %v59, align 4
  %v61 = getelementptr float, ptr %v6, i64 %v33
  %v62 = load <16 x float>, ptr %v61, align 4
  %v63 = fadd <16 x float> %v51, %v56
  %v64 = fadd <16 x float> %v52, %v58
  %v65 = fadd <16 x float> %v53, %v60
  %v66 = fadd <16 x float> %v54, %v62
  %v67 = getelementptr float, ptr %v2, i64 %v30
  store <16 x float> %v63, ptr %v67, align 4
  %v68 = getelementptr float, ptr %v2, i64 %v31
  store <16 x float> %v64, ptr %v68, align 4
  %v69 = getelementptr float, ptr %v2, i64 %v32
  store <16 x float> %v65, ptr %v69, align 4
  %v70 = getelementptr float, ptr %v2, i64 %v33
  store <16 x float> %v66, ptr %v70, align 4
  %v28 = add nuw nsw i64 %v27, 1
  %v71 = icmp slt i64 %v28, %v21
  br i1 %v71, label %b24, label %b25
b25:
  %v74 = icmp slt i64 %v23, %end
  br i1 %v74, label %b72, label %b73
b72:
  %v75 = phi i64 [ %v23, %b25 ], [ %v76, %b72 ]
  %v77 = mul i64 %v75, 64
  %v78 = add i64 %v77, %v11
  %v79 = add i64 %v77, %v12
  %v80 = add i64 %v77, %v13
  %v81 = add i64 %v77, %v14
  %v82 = mul i64 %v75, -64
  %v83 = add i64 %v82, %v15
  %v84 = add i64 %v82, %v16
  %v85 = add i64 %v82, %v17
  %v86 = add i64 %v82, %v18
  %v87 = add i64 %v83, %v8
  %v88 = add i64 %v84, %v8
  %v89 = add i64 %v85, %v8
  %v90 = add i64 %v86, %v8
  %v91 = icmp slt i64 %v87, 16
  %v92 = select i1 %v91, i64 %v87, i64 16
  %v93 = icmp sgt i64 %v92, 0
  %v94 = select i1 %v93, i64 %v92, i64 0
  %v95 = trunc i64 %v94 to i32
  %v96 = insertelement <16 x i32> poison, i32 %v95, i64 0
  %v97 = shufflevector <16 x i32> %v96, <16 x i32> poison, <16 x i32> zeroinitializer
  %v98 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v97
  %v99 = icmp slt i64 %v88, 16
  %v100 = select i1 %v99, i64 %v88, i64 16
  %v101 = icmp sgt i64 %v100, 0
  %v102 = select i1 %v101, i64 %v100, i64 0
  %v103 = trunc i64 %v102 to i32
  %v104 = insertelement <16 x i32> poison, i32 %v103, i64 0
  %v105 = shufflevector <16 x i32> %v104, <16 x i32> poison, <16 x i32> zeroinitializer
  %v106 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v105
  %v107 = icmp slt i64 %v89, 16
  %v108 = select i1 %v107, i64 %v89, i64 16
  %v109 = icmp sgt i64 %v108, 0
  %v110 = select i1 %v109, i64 %v108, i64 0
  %v111 = trunc i64 %v110 to i32
  %v112 = insertelement <16 x i32> poison, i32 %v111, i64 0
  %v113 = shufflevector <16 x i32> %v112, <16 x i32> poison, <16 x i32> zeroinitializer
  %v114 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v113
  %v115 = icmp slt i64 %v90, 16
  %v116 = select i1 %v115, i64 %v90, i64 16
  %v117 = icmp sgt i64 %v116, 0
  %v118 = select i1 %v117, i64 %v116, i64 0
  %v119 = trunc i64 %v118 to i32
  %v120 = insertelement <16 x i32> poison, i32 %v119, i64 0
  %v121 = shufflevector <16 x i32> %v120, <16 x i32> poison, <16 x i32> zeroinitializer
  %v122 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v121
  %v123 = getelementptr float, ptr %v4, i64 %v78
  %v124 = load <16 x float>, ptr %v123, align 4
  %v125 = getelementptr float, ptr %v4, i64 %v79
  %v126 = load <16 x float>, ptr %v125, align 4
  %v127 = getelementptr float, ptr %v4, i64 %v80
  %v128 = load <16 x float>, ptr %v127, align 4
  %v129 = getelementptr float, ptr %v4, i64 %v81
  %v130 = load <16 x float>, ptr %v129, align 4
  %v131 = fmul <16 x float> %v124, splat (float 0x4000000000000000)
  %v132 = fmul <16 x float> %v126, splat (float 0x4000000000000000)
  %v133 = fmul <16 x float> %v128, splat (float 0x4000000000000000)
  %v134 = fmul <16 x float> %v130, splat (float 0x4000000000000000)
  %v135 = getelementptr float, ptr %v6, i64 %v78
  %v136 = load <16 x float>, ptr %v135, align 4
  %v137 = getelementptr float, ptr %v6, i64 %v79
  %v138 = load <16 x float>, ptr %v137, align 4
  %v139 = getelementptr float, ptr %v6, i64 %v80
  %v140 = load <16 x float>, ptr %v139, align 4
  %v141 = getelementptr float, ptr %v6, i64 %v81
  %v142 = load <16 x float>, ptr %v141, align 4
  %v143 = fadd <16 x float> %v131, %v136
  %v144 = fadd <16 x float> %v132, %v138
  %v145 = fadd <16 x float> %v133, %v140
  %v146 = fadd <16 x float> %v134, %v142
  %v147 = getelementptr float, ptr %v2, i64 %v78
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v143, ptr align 4 %v147, <16 x i1> %v98)
  %v148 = getelementptr float, ptr %v2, i64 %v79
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v144, ptr align 4 %v148, <16 x i1> %v106)
  %v149 = getelementptr float, ptr %v2, i64 %v80
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v145, ptr align 4 %v149, <16 x i1> %v114)
  %v150 = getelementptr float, ptr %v2, i64 %v81
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v146, ptr align 4 %v150, <16 x i1> %v122)
  %v76 = add nuw nsw i64 %v75, 1
  %v151 = icmp slt i64 %v76, %end
  br i1 %v151, label %b72, label %b73
b73:
  ret void
}
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, <16 x i1>)
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
