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
  %v10 = phi i64 [ %begin, %entry ], [ %v11, %b94 ]
  %v12 = mul i64 %v10, 40
  store <16 x float> splat (float 0xFFF0000000000000), ptr %a13
  br label %b14
b14:
  %v16 = phi i64 [ 0, %b7 ], [ %v17, %b14 ]
  %v18 = mul i64 %v16, -16
  %v19 = mul i64 %v16, 16
  %v20 = add i64 %v12, %v19
  %v21 = getelementptr float, ptr %v6, i64 %v20
  %v22 = load <16 x float>, ptr %v21, align 4
  %v23 = load <16 x float>, ptr %a13
  %v24 = fcmp ogt <16 x float> %v22, %v23
  %v25 = select <16 x i1> %v24, <16 x float> %v22, <16 x float> %v23
  %v26 = fcmp uno <16 x float> %v22, %v22
  %v27 = select <16 x i1> %v26, <16 x float> splat (float 0x7FF8000000000000), <16 x float> %v25
  store <16 x float> %v27, ptr %a13
  %v17 = add nuw nsw i64 %v16, 1
  %v28 = icmp slt i64 %v17, 2
  br i1 %v28, label %b14, label %b15
b15:
  br label %b29
b29:
  %v31 = phi i64 [ 2, %b15 ], [ %v32, %b29 ]
  %v33 = mul i64 %v31, -16
  %v34 = add i64 %v33, 40
  %v35 = trunc i64 %v34 to i32
  %v36 = insertelement <16 x i32> poison, i32 %v35, i64 0
  %v37 = shufflevector <16 x i32> %v36, <16 x i32> poison, <16 x i32> zeroinitializer
  %v38 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v37
  %v39 = mul i64 %v31, 16
  %v40 = add i64 %v12, %v39
  %v41 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v38)
  %v42 = select i1 %v41, i64 %v40, i64 0
  %v43 = getelementptr float, ptr %v6, i64 %v42
  %v44 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v43, <16 x i1> %v38, <16 x float> zeroinitializer)
  %v45 = select <16 x i1> %v38, <16 x float> %v44, <16 x float> splat (float 0xFFF0000000000000)
  %v46 = load <16 x float>, ptr %a13
  %v47 = fcmp ogt <16 x float> %v45, %v46
  %v48 = select <16 x i1> %v47, <16 x float> %v45, <16 x float> %v46
  %v49 = fcmp uno <16 x float> %v45, %v45
  %v50 = select <16 x i1> %v49, <16 x float> splat (float 0x7FF8000000000000), <16 x float> %v48
  store <16 x float> %v50, ptr %a13
  %v32 = add nuw nsw i64 %v31, 1
  %v51 = icmp slt i64 %v32, 3
  br i1 %v51, label %b29, label %b30
b30:
  %v52 = load <16 x float>, ptr %a13
  %v53 = shufflevector <16 x float> %v52, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v54 = shufflevector <16 x float> %v52, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v55 = fcmp ogt <8 x float> %v53, %v54
  %v56 = select <8 x i1> %v55, <8 x float> %v53, <8 x float> %v54
  %v57 = fcmp uno <8 x float> %v53, %v53
  %v58 = select <8 x i1> %v57, <8 x float> splat (float 0x7FF8000000000000), <8 x float> %v56
  %v59 = shufflevector <8 x float> %v58, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v60 = shufflevector <8 x float> %v58, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v61 = fcmp ogt <4 x float> %v59, %v60
  %v62 = select <4 x i1> %v61, <4 x float> %v59, <4 x float> %v60
  %v63 = fcmp uno <4 x float> %v59, %v59
  %v64 = select <4 x i1> %v63, <4 x float> splat (float 0x7FF8000000000000), <4 x float> %v62
  %v65 = shufflevector <4 x float> %v64, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %v66 = shufflevector <4 x float> %v64, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %v67 = fcmp ogt <2 x float> %v65, %v66
  %v68 = select <2 x i1> %v67, <2 x float> %v65, <2 x float> %v66
  %v69 = fcmp uno <2 x float> %v65, %v65
  %v70 = select <2 x i1> %v69, <2 x float> splat (float 0x7FF8000000000000), <2 x float> %v68
  %v71 = shufflevector <2 x float> %v70, <2 x float> poison, <1 x i32> <i32 0>
  %v72 = shufflevector <2 x float> %v70, <2 x float> poison, <1 x i32> <i32 1>
  %v73 = extractelement <1 x float> %v71, i64 0
  %v74 = extractelement <1 x float> %v72, i64 0
  %v75 = fcmp ogt float %v73, %v74
  %v76 = select i1 %v75, float %v73, float %v74
  %v77 = fcmp uno float %v73, %v73
  %v78 = select i1 %v77, float 0x7FF8000000000000, float %v76
  br label %b79
b79:
  %v81 = phi i64 [ 0, %b30 ], [ %v82, %b79 ]
  %v83 = mul i64 %v81, 16
  %v84 = add i64 %v12, %v83
  %v85 = mul i64 %v81, -16
  %v86 = getelementptr float, ptr %v4, i64 %v84
  %v87 = load <16 x float>, ptr %v86, align 4
  %v88 = insertelement <16 x float> poison, float %v78, i64 0
  %v89 = shufflevector <16 x float> %v88, <16 x float> poison, <16 x i32> zeroinitializer
  %v90 = fsub <16 x float> %v87, %v89
  %v91 = getelementptr float, ptr %v2, i64 %v84
  store <16 x float> %v90, ptr %v91, align 4
  %v82 = add nuw nsw i64 %v81, 1
  %v92 = icmp slt i64 %v82, 2
  br i1 %v92, label %b79, label %b80
b80:
  br label %b93
b93:
  %v95 = phi i64 [ 2, %b80 ], [ %v96, %b93 ]
  %v97 = mul i64 %v95, 16
  %v98 = add i64 %v12, %v97
  %v99 = mul i64 %v95, -16
  %v100 = add i64 %v99, 40
  %v101 = trunc i64 %v100 to i32
  %v102 = insertelement <16 x i32> poison, i32 %v101, i64 0
  %v103 = shufflevector <16 x i32> %v102, <16 x i32> poison, <16 x i32> zeroinitializer
  %v104 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v103
  %v105 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v104)
  %v106 = select i1 %v105, i64 %v98, i64 0
  %v107 = getelementptr float, ptr %v4, i64 %v106
  %v108 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v107, <16 x i1> %v104, <16 x float> zeroinitializer)
  %v109 = insertelement <16 x float> poison, float %v78, i64 0
  %v110 = shufflevector <16 x float> %v109, <16 x float> poison, <16 x i32> zeroinitializer
  %v111 = fsub <16 x float> %v108, %v110
  %v112 = getelementptr float, ptr %v2, i64 %v98
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v111, ptr align 4 %v112, <16 x i1> %v104)
  %v96 = add nuw nsw i64 %v95, 1
  %v113 = icmp slt i64 %v96, 3
  br i1 %v113, label %b93, label %b94
b94:
  %v11 = add nuw nsw i64 %v10, 1
  %v114 = icmp slt i64 %v11, %end
  br i1 %v114, label %b7, label %b8
b8:
  ret void
}
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, <16 x i1>, <16 x float>)
declare i1 @llvm.vector.reduce.or.v16i1(<16 x i1>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, <16 x i1>)
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
