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
  %v10 = phi i64 [ %begin, %entry ], [ %v11, %b100 ]
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
  %v46 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v43)
  %v47 = select i1 %v46, i64 %v45, i64 0
  %v48 = getelementptr float, ptr %v6, i64 %v47
  %v49 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v48, <16 x i1> %v43, <16 x float> zeroinitializer)
  %v50 = select <16 x i1> %v43, <16 x float> %v49, <16 x float> splat (float 0xFFF0000000000000)
  %v51 = load <16 x float>, ptr %a13
  %v52 = fcmp ogt <16 x float> %v51, %v50
  %v53 = select <16 x i1> %v52, <16 x float> %v51, <16 x float> %v50
  %v54 = fcmp uno <16 x float> %v51, %v51
  %v55 = select <16 x i1> %v54, <16 x float> %v51, <16 x float> %v53
  store <16 x float> %v55, ptr %a13
  %v33 = add nuw nsw i64 %v32, 1
  %v56 = icmp slt i64 %v33, 3
  br i1 %v56, label %b30, label %b31
b31:
  %v57 = load <16 x float>, ptr %a13
  %v58 = shufflevector <16 x float> %v57, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v59 = shufflevector <16 x float> %v57, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v60 = fcmp ogt <8 x float> %v58, %v59
  %v61 = select <8 x i1> %v60, <8 x float> %v58, <8 x float> %v59
  %v62 = fcmp uno <8 x float> %v58, %v58
  %v63 = select <8 x i1> %v62, <8 x float> %v58, <8 x float> %v61
  %v64 = shufflevector <8 x float> %v63, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v65 = shufflevector <8 x float> %v63, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v66 = fcmp ogt <4 x float> %v64, %v65
  %v67 = select <4 x i1> %v66, <4 x float> %v64, <4 x float> %v65
  %v68 = fcmp uno <4 x float> %v64, %v64
  %v69 = select <4 x i1> %v68, <4 x float> %v64, <4 x float> %v67
  %v70 = shufflevector <4 x float> %v69, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %v71 = shufflevector <4 x float> %v69, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %v72 = fcmp ogt <2 x float> %v70, %v71
  %v73 = select <2 x i1> %v72, <2 x float> %v70, <2 x float> %v71
  %v74 = fcmp uno <2 x float> %v70, %v70
  %v75 = select <2 x i1> %v74, <2 x float> %v70, <2 x float> %v73
  %v76 = shufflevector <2 x float> %v75, <2 x float> poison, <1 x i32> <i32 0>
  %v77 = shufflevector <2 x float> %v75, <2 x float> poison, <1 x i32> <i32 1>
  %v78 = extractelement <1 x float> %v76, i64 0
  %v79 = extractelement <1 x float> %v77, i64 0
  %v80 = fcmp ogt float %v78, %v79
  %v81 = select i1 %v80, float %v78, float %v79
  %v82 = fcmp uno float %v78, %v78
  %v83 = select i1 %v82, float %v78, float %v81
  br label %b84
b84:
  %v86 = phi i64 [ 0, %b31 ], [ %v87, %b84 ]
  %v88 = mul i64 %v86, 16
  %v89 = add i64 %v12, %v88
  %v90 = mul i64 %v86, -16
  %v91 = add i64 %v90, 40
  %v92 = getelementptr float, ptr %v4, i64 %v89
  %v93 = load <16 x float>, ptr %v92, align 4
  %v94 = insertelement <16 x float> poison, float %v83, i64 0
  %v95 = shufflevector <16 x float> %v94, <16 x float> poison, <16 x i32> zeroinitializer
  %v96 = fsub <16 x float> %v93, %v95
  %v97 = getelementptr float, ptr %v2, i64 %v89
  store <16 x float> %v96, ptr %v97, align 4
  %v87 = add nuw nsw i64 %v86, 1
  %v98 = icmp slt i64 %v87, 2
  br i1 %v98, label %b84, label %b85
b85:
  br label %b99
b99:
  %v101 = phi i64 [ 2, %b85 ], [ %v102, %b99 ]
  %v103 = mul i64 %v101, 16
  %v104 = add i64 %v12, %v103
  %v105 = mul i64 %v101, -16
  %v106 = add i64 %v105, 40
  %v107 = icmp slt i64 %v106, 16
  %v108 = select i1 %v107, i64 %v106, i64 16
  %v109 = icmp sgt i64 %v108, 0
  %v110 = select i1 %v109, i64 %v108, i64 0
  %v111 = trunc i64 %v110 to i32
  %v112 = insertelement <16 x i32> poison, i32 %v111, i64 0
  %v113 = shufflevector <16 x i32> %v112, <16 x i32> poison, <16 x i32> zeroinitializer
  %v114 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v113
  %v115 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v114)
  %v116 = select i1 %v115, i64 %v104, i64 0
  %v117 = getelementptr float, ptr %v4, i64 %v116
  %v118 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v117, <16 x i1> %v114, <16 x float> zeroinitializer)
  %v119 = insertelement <16 x float> poison, float %v83, i64 0
  %v120 = shufflevector <16 x float> %v119, <16 x float> poison, <16 x i32> zeroinitializer
  %v121 = fsub <16 x float> %v118, %v120
  %v122 = getelementptr float, ptr %v2, i64 %v104
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v121, ptr align 4 %v122, <16 x i1> %v114)
  %v102 = add nuw nsw i64 %v101, 1
  %v123 = icmp slt i64 %v102, 3
  br i1 %v123, label %b99, label %b100
b100:
  %v11 = add nuw nsw i64 %v10, 1
  %v124 = icmp slt i64 %v11, %end
  br i1 %v124, label %b7, label %b8
b8:
  ret void
}
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, <16 x i1>, <16 x float>)
declare i1 @llvm.vector.reduce.or.v16i1(<16 x i1>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, <16 x i1>)
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
