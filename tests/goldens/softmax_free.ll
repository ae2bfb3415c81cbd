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
  %v10 = phi i64 [ %begin, %entry ], [ %v11, %b98 ]
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
  %v25 = fcmp ogt <16 x float> %v24, %v23
  %v26 = select <16 x i1> %v25, <16 x float> %v24, <16 x float> %v23
  %v27 = fcmp uno <16 x float> %v24, %v24
  %v28 = select <16 x i1> %v27, <16 x float> %v24, <16 x float> %v26
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
  %v36 = icmp slt i64 %v35, 16
  %v37 = select i1 %v36, i64 %v35, i64 16
  %v38 = icmp sgt i64 %v37, 0
  %v39 = select i1 %v38, i64 %v37, i64 0
  %v40 = trunc i64 %v39 to i32
  %v41 = insertelement <16 x i32> poison, i32 %v40, i64 0
  %v42 = shufflevector <16 x i32> %v41, <16 x i32> poison, <16 x i32> zeroinitializer
  %v43 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v42
  %v44 = mul i64 %v32, 16
  %v45 = add i64 %v12, %v44
  %v46 = getelementptr float, ptr %v6, i64 %v45
  %v47 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v46, <16 x i1> %v43, <16 x float> zeroinitializer)
  %v48 = select <16 x i1> %v43, <16 x float> %v47, <16 x float> splat (float 0xFFF0000000000000)
  %v49 = load <16 x float>, ptr %a13
  %v50 = fcmp ogt <16 x float> %v49, %v48
  %v51 = select <16 x i1> %v50, <16 x float> %v49, <16 x float> %v48
  %v52 = fcmp uno <16 x float> %v49, %v49
  %v53 = select <16 x i1> %v52, <16 x float> %v49, <16 x float> %v51
  store <16 x float> %v53, ptr %a13
  %v33 = add nuw nsw i64 %v32, 1
  %v54 = icmp slt i64 %v33, 3
  br i1 %v54, label %b30, label %b31
b31:
  %v55 = load <16 x float>, ptr %a13
  %v56 = shufflevector <16 x float> %v55, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v57 = shufflevector <16 x float> %v55, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v58 = fcmp ogt <8 x float> %v56, %v57
  %v59 = select <8 x i1> %v58, <8 x float> %v56, <8 x float> %v57
  %v60 = fcmp uno <8 x float> %v56, %v56
  %v61 = select <8 x i1> %v60, <8 x float> %v56, <8 x float> %v59
  %v62 = shufflevector <8 x float> %v61, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v63 = shufflevector <8 x float> %v61, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v64 = fcmp ogt <4 x float> %v62, %v63
  %v65 = select <4 x i1> %v64, <4 x float> %v62, <4 x float> %v63
  %v66 = fcmp uno <4 x float> %v62, %v62
  %v67 = select <4 x i1> %v66, <4 x float> %v62, <4 x float> %v65
  %v68 = shufflevector <4 x float> %v67, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %v69 = shufflevector <4 x float> %v67, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %v70 = fcmp ogt <2 x float> %v68, %v69
  %v71 = select <2 x i1> %v70, <2 x float> %v68, <2 x float> %v69
  %v72 = fcmp uno <2 x float> %v68, %v68
  %v73 = select <2 x i1> %v72, <2 x float> %v68, <2 x float> %v71
  %v74 = shufflevector <2 x float> %v73, <2 x float> poison, <1 x i32> <i32 0>
  %v75 = shufflevector <2 x float> %v73, <2 x float> poison, <1 x i32> <i32 1>
  %v76 = extractelement <1 x float> %v74, i64 0
  %v77 = extractelement <1 x float> %v75, i64 0
  %v78 = fcmp ogt float %v76, %v77
  %v79 = select i1 %v78, float %v76, float %v77
  %v80 = fcmp uno float %v76, %v76
  %v81 = select i1 %v80, float %v76, float %v79
  br label %b82
b82:
  %v84 = phi i64 [ 0, %b31 ], [ %v85, %b82 ]
  %v86 = mul i64 %v84, 16
  %v87 = add i64 %v12, %v86
  %v88 = mul i64 %v84, -16
  %v89 = add i64 %v88, 40
  %v90 = getelementptr float, ptr %v4, i64 %v87
  %v91 = load <16 x float>, ptr %v90, align 4
  %v92 = insertelement <16 x float> poison, float %v81, i64 0
  %v93 = shufflevector <16 x float> %v92, <16 x float> poison, <16 x i32> zeroinitializer
  %v94 = fsub <16 x float> %v91, %v93
  %v95 = getelementptr float, ptr %v2, i64 %v87
  store <16 x float> %v94, ptr %v95, align 4
  %v85 = add nuw nsw i64 %v84, 1
  %v96 = icmp slt i64 %v85, 2
  br i1 %v96, label %b82, label %b83
b83:
  br label %b97
b97:
  %v99 = phi i64 [ 2, %b83 ], [ %v100, %b97 ]
  %v101 = mul i64 %v99, 16
  %v102 = add i64 %v12, %v101
  %v103 = mul i64 %v99, -16
  %v104 = add i64 %v103, 40
  %v105 = icmp slt i64 %v104, 16
  %v106 = select i1 %v105, i64 %v104, i64 16
  %v107 = icmp sgt i64 %v106, 0
  %v108 = select i1 %v107, i64 %v106, i64 0
  %v109 = trunc i64 %v108 to i32
  %v110 = insertelement <16 x i32> poison, i32 %v109, i64 0
  %v111 = shufflevector <16 x i32> %v110, <16 x i32> poison, <16 x i32> zeroinitializer
  %v112 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v111
  %v113 = getelementptr float, ptr %v4, i64 %v102
  %v114 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v113, <16 x i1> %v112, <16 x float> zeroinitializer)
  %v115 = insertelement <16 x float> poison, float %v81, i64 0
  %v116 = shufflevector <16 x float> %v115, <16 x float> poison, <16 x i32> zeroinitializer
  %v117 = fsub <16 x float> %v114, %v116
  %v118 = getelementptr float, ptr %v2, i64 %v102
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v117, ptr align 4 %v118, <16 x i1> %v112)
  %v100 = add nuw nsw i64 %v99, 1
  %v119 = icmp slt i64 %v100, 3
  br i1 %v119, label %b97, label %b98
b98:
  %v11 = add nuw nsw i64 %v10, 1
  %v120 = icmp slt i64 %v11, %end
  br i1 %v120, label %b7, label %b8
b8:
  ret void
}
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, <16 x i1>, <16 x float>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, <16 x i1>)
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
