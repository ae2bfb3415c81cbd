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
  %v10 = phi i64 [ %begin, %entry ], [ %v11, %b92 ]
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
  %v71 = extractelement <2 x float> %v70, i64 0
  %v72 = extractelement <2 x float> %v70, i64 1
  %v73 = fcmp ogt float %v71, %v72
  %v74 = select i1 %v73, float %v71, float %v72
  %v75 = fcmp uno float %v71, %v71
  %v76 = select i1 %v75, float 0x7FF8000000000000, float %v74
  br label %b77
b77:
  %v79 = phi i64 [ 0, %b30 ], [ %v80, %b77 ]
  %v81 = mul i64 %v79, 16
  %v82 = add i64 %v12, %v81
  %v83 = mul i64 %v79, -16
  %v84 = getelementptr float, ptr %v4, i64 %v82
  %v85 = load <16 x float>, ptr %v84, align 4
  %v86 = insertelement <16 x float> poison, float %v76, i64 0
  %v87 = shufflevector <16 x float> %v86, <16 x float> poison, <16 x i32> zeroinitializer
  %v88 = fsub <16 x float> %v85, %v87
  %v89 = getelementptr float, ptr %v2, i64 %v82
  store <16 x float> %v88, ptr %v89, align 4
  %v80 = add nuw nsw i64 %v79, 1
  %v90 = icmp slt i64 %v80, 2
  br i1 %v90, label %b77, label %b78
b78:
  br label %b91
b91:
  %v93 = phi i64 [ 2, %b78 ], [ %v94, %b91 ]
  %v95 = mul i64 %v93, 16
  %v96 = add i64 %v12, %v95
  %v97 = mul i64 %v93, -16
  %v98 = add i64 %v97, 40
  %v99 = trunc i64 %v98 to i32
  %v100 = insertelement <16 x i32> poison, i32 %v99, i64 0
  %v101 = shufflevector <16 x i32> %v100, <16 x i32> poison, <16 x i32> zeroinitializer
  %v102 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v101
  %v103 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v102)
  %v104 = select i1 %v103, i64 %v96, i64 0
  %v105 = getelementptr float, ptr %v4, i64 %v104
  %v106 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v105, <16 x i1> %v102, <16 x float> zeroinitializer)
  %v107 = insertelement <16 x float> poison, float %v76, i64 0
  %v108 = shufflevector <16 x float> %v107, <16 x float> poison, <16 x i32> zeroinitializer
  %v109 = fsub <16 x float> %v106, %v108
  %v110 = getelementptr float, ptr %v2, i64 %v96
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v109, ptr align 4 %v110, <16 x i1> %v102)
  %v94 = add nuw nsw i64 %v93, 1
  %v111 = icmp slt i64 %v94, 3
  br i1 %v111, label %b91, label %b92
b92:
  %v11 = add nuw nsw i64 %v10, 1
  %v112 = icmp slt i64 %v11, %end
  br i1 %v112, label %b7, label %b8
b8:
  ret void
}
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, <16 x i1>, <16 x float>)
declare i1 @llvm.vector.reduce.or.v16i1(<16 x i1>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, <16 x i1>)
attributes #0 = { nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512" }
