; reduce_parallel6_loop3_loop3_lane16_lane16
; axes: parallel 6, loop 3, loop 3, lane 16, lane 16
define void @"reduce_parallel6_loop3_loop3_lane16_lane16"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %a13 = alloca <16 x float>, align 64
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr inbounds i64, ptr %arguments, i64 2
  %v6 = load ptr, ptr %v5
  %v9 = icmp slt i64 %begin, %end
  br i1 %v9, label %b7, label %b8
b7:
  %v10 = phi i64 [ %begin, %entry ], [ %v11, %b96 ]
  %v12 = mul i64 %v10, 40
  store <16 x float> splat (float 0xFFF0000000000000), ptr %a13
  br label %b14
b14:
  %v16 = phi i64 [ 0, %b7 ], [ %v17, %b14 ]
  %v18 = mul i64 %v16, -16
  %v19 = add i64 %v18, 40
  %v20 = mul i64 %v16, 16
  %v21 = add i64 %v12, %v20
  %v22 = getelementptr float, ptr %v6, i64 %v21
  %v23 = load <16 x float>, ptr %v22, align 4
  %v24 = load <16 x float>, ptr %a13
  %v25 = fcmp ogt <16 x float> %v23, %v24
  %v26 = select <16 x i1> %v25, <16 x float> %v23, <16 x float> %v24
  %v27 = fcmp uno <16 x float> %v23, %v23
  %v28 = select <16 x i1> %v27, <16 x float> splat (float 0x7FF8000000000000), <16 x float> %v26
  store <16 x float> %v28, ptr %a13
  %v17 = add nuw nsw i64 %v16, 1
  %v29 = icmp slt i64 %v17, 2
  br i1 %v29, label %b14, label %b15
b15:
  br label %b30
b30:
  %v32 = phi i64 [ 2, %b15 ], [ %v33, %b30 ]
  %v34 = mul i64 %v32, -16
  %v35 = add i64 %v34, 40
  %v36 = trunc i64 %v35 to i32
  %v37 = insertelement <16 x i32> poison, i32 %v36, i64 0
  %v38 = shufflevector <16 x i32> %v37, <16 x i32> poison, <16 x i32> zeroinitializer
  %v39 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v38
  %v40 = mul i64 %v32, 16
  %v41 = add i64 %v12, %v40
  %v42 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v39)
  %v43 = select i1 %v42, i64 %v41, i64 0
  %v44 = getelementptr float, ptr %v6, i64 %v43
  %v45 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v44, <16 x i1> %v39, <16 x float> zeroinitializer)
  %v46 = select <16 x i1> %v39, <16 x float> %v45, <16 x float> splat (float 0xFFF0000000000000)
  %v47 = load <16 x float>, ptr %a13
  %v48 = fcmp ogt <16 x float> %v46, %v47
  %v49 = select <16 x i1> %v48, <16 x float> %v46, <16 x float> %v47
  %v50 = fcmp uno <16 x float> %v46, %v46
  %v51 = select <16 x i1> %v50, <16 x float> splat (float 0x7FF8000000000000), <16 x float> %v49
  store <16 x float> %v51, ptr %a13
  %v33 = add nuw nsw i64 %v32, 1
  %v52 = icmp slt i64 %v33, 3
  br i1 %v52, label %b30, label %b31
b31:
  %v53 = load <16 x float>, ptr %a13
  %v54 = shufflevector <16 x float> %v53, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v55 = shufflevector <16 x float> %v53, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v56 = fcmp ogt <8 x float> %v54, %v55
  %v57 = select <8 x i1> %v56, <8 x float> %v54, <8 x float> %v55
  %v58 = fcmp uno <8 x float> %v54, %v54
  %v59 = select <8 x i1> %v58, <8 x float> splat (float 0x7FF8000000000000), <8 x float> %v57
  %v60 = shufflevector <8 x float> %v59, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v61 = shufflevector <8 x float> %v59, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v62 = fcmp ogt <4 x float> %v60, %v61
  %v63 = select <4 x i1> %v62, <4 x float> %v60, <4 x float> %v61
  %v64 = fcmp uno <4 x float> %v60, %v60
  %v65 = select <4 x i1> %v64, <4 x float> splat (float 0x7FF8000000000000), <4 x float> %v63
  %v66 = shufflevector <4 x float> %v65, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %v67 = shufflevector <4 x float> %v65, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %v68 = fcmp ogt <2 x float> %v66, %v67
  %v69 = select <2 x i1> %v68, <2 x float> %v66, <2 x float> %v67
  %v70 = fcmp uno <2 x float> %v66, %v66
  %v71 = select <2 x i1> %v70, <2 x float> splat (float 0x7FF8000000000000), <2 x float> %v69
  %v72 = shufflevector <2 x float> %v71, <2 x float> poison, <1 x i32> <i32 0>
  %v73 = shufflevector <2 x float> %v71, <2 x float> poison, <1 x i32> <i32 1>
  %v74 = extractelement <1 x float> %v72, i64 0
  %v75 = extractelement <1 x float> %v73, i64 0
  %v76 = fcmp ogt float %v74, %v75
  %v77 = select i1 %v76, float %v74, float %v75
  %v78 = fcmp uno float %v74, %v74
  %v79 = select i1 %v78, float 0x7FF8000000000000, float %v77
  br label %b80
b80:
  %v82 = phi i64 [ 0, %b31 ], [ %v83, %b80 ]
  %v84 = mul i64 %v82, 16
  %v85 = add i64 %v12, %v84
  %v86 = mul i64 %v82, -16
  %v87 = add i64 %v86, 40
  %v88 = getelementptr float, ptr %v4, i64 %v85
  %v89 = load <16 x float>, ptr %v88, align 4
  %v90 = insertelement <16 x float> poison, float %v79, i64 0
  %v91 = shufflevector <16 x float> %v90, <16 x float> poison, <16 x i32> zeroinitializer
  %v92 = fsub <16 x float> %v89, %v91
  %v93 = getelementptr float, ptr %v2, i64 %v85
  store <16 x float> %v92, ptr %v93, align 4
  %v83 = add nuw nsw i64 %v82, 1
  %v94 = icmp slt i64 %v83, 2
  br i1 %v94, label %b80, label %b81
b81:
  br label %b95
b95:
  %v97 = phi i64 [ 2, %b81 ], [ %v98, %b95 ]
  %v99 = mul i64 %v97, 16
  %v100 = add i64 %v12, %v99
  %v101 = mul i64 %v97, -16
  %v102 = add i64 %v101, 40
  %v103 = trunc i64 %v102 to i32
  %v104 = insertelement <16 x i32> poison, i32 %v103, i64 0
  %v105 = shufflevector <16 x i32> %v104, <16 x i32> poison, <16 x i32> zeroinitializer
  %v106 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v105
  %v107 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v106)
  %v108 = select i1 %v107, i64 %v100, i64 0
  %v109 = getelementptr float, ptr %v4, i64 %v108
  %v110 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v109, <16 x i1> %v106, <16 x float> zeroinitializer)
  %v111 = insertelement <16 x float> poison, float %v79, i64 0
  %v112 = shufflevector <16 x float> %v111, <16 x float> poison, <16 x i32> zeroinitializer
  %v113 = fsub <16 x float> %v110, %v112
  %v114 = getelementptr float, ptr %v2, i64 %v100
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v113, ptr align 4 %v114, <16 x i1> %v106)
  %v98 = add nuw nsw i64 %v97, 1
  %v115 = icmp slt i64 %v98, 3
  br i1 %v115, label %b95, label %b96
b96:
  %v11 = add nuw nsw i64 %v10, 1
  %v116 = icmp slt i64 %v11, %end
  br i1 %v116, label %b7, label %b8
b8:
  ret void
}
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, <16 x i1>, <16 x float>)
declare i1 @llvm.vector.reduce.or.v16i1(<16 x i1>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, <16 x i1>)
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
