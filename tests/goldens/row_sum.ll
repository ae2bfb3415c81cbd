; reduce_parallel8_loop4_upcast2_lane16
; axes: parallel 8, loop 4, upcast 2, lane 16
define void @"reduce_parallel8_loop4_upcast2_lane16"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %a15 = alloca <16 x float>, align 64
  %a16 = alloca <16 x float>, align 64
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = mul i64 0, -16
  %v6 = mul i64 1, -16
  %v7 = mul i64 0, 16
  %v8 = mul i64 1, 16
  %v11 = icmp slt i64 %begin, %end
  br i1 %v11, label %b9, label %b10
b9:
  %v12 = phi i64 [ %begin, %entry ], [ %v13, %b42 ]
  %v14 = mul i64 %v12, 100
  store <16 x float> splat (float 0x0000000000000000), ptr %a15
  store <16 x float> splat (float 0x0000000000000000), ptr %a16
  br label %b17
b17:
  %v19 = phi i64 [ 0, %b9 ], [ %v20, %b17 ]
  %v21 = mul i64 %v19, -32
  %v22 = add i64 %v21, %v5
  %v23 = add i64 %v21, %v6
  %v24 = add i64 %v22, 100
  %v25 = add i64 %v23, 100
  %v26 = mul i64 %v19, 32
  %v27 = add i64 %v14, %v26
  %v28 = add i64 %v27, %v7
  %v29 = add i64 %v27, %v8
  %v30 = getelementptr float, ptr %v4, i64 %v28
  %v31 = load <16 x float>, ptr %v30, align 4
  %v32 = getelementptr float, ptr %v4, i64 %v29
  %v33 = load <16 x float>, ptr %v32, align 4
  %v34 = fadd <16 x float> %v31, splat (float 0x3FF0000000000000)
  %v35 = fadd <16 x float> %v33, splat (float 0x3FF0000000000000)
  %v36 = load <16 x float>, ptr %a15
  %v37 = fadd <16 x float> %v34, %v36
  store <16 x float> %v37, ptr %a15
  %v38 = load <16 x float>, ptr %a16
  %v39 = fadd <16 x float> %v35, %v38
  store <16 x float> %v39, ptr %a16
  %v20 = add nuw nsw i64 %v19, 1
  %v40 = icmp slt i64 %v20, 3
  br i1 %v40, label %b17, label %b18
b18:
  br label %b41
b41:
  %v43 = phi i64 [ 3, %b18 ], [ %v44, %b41 ]
  %v45 = mul i64 %v43, -32
  %v46 = add i64 %v45, %v5
  %v47 = add i64 %v45, %v6
  %v48 = add i64 %v46, 100
  %v49 = add i64 %v47, 100
  %v50 = trunc i64 %v48 to i32
  %v51 = insertelement <16 x i32> poison, i32 %v50, i64 0
  %v52 = shufflevector <16 x i32> %v51, <16 x i32> poison, <16 x i32> zeroinitializer
  %v53 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v52
  %v54 = trunc i64 %v49 to i32
  %v55 = insertelement <16 x i32> poison, i32 %v54, i64 0
  %v56 = shufflevector <16 x i32> %v55, <16 x i32> poison, <16 x i32> zeroinitializer
  %v57 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v56
  %v58 = mul i64 %v43, 32
  %v59 = add i64 %v14, %v58
  %v60 = add i64 %v59, %v7
  %v61 = add i64 %v59, %v8
  %v62 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v53)
  %v63 = select i1 %v62, i64 %v60, i64 0
  %v64 = getelementptr float, ptr %v4, i64 %v63
  %v65 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v64, <16 x i1> %v53, <16 x float> zeroinitializer)
  %v66 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v57)
  %v67 = select i1 %v66, i64 %v61, i64 0
  %v68 = getelementptr float, ptr %v4, i64 %v67
  %v69 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v68, <16 x i1> %v57, <16 x float> zeroinitializer)
  %v70 = fadd <16 x float> %v65, splat (float 0x3FF0000000000000)
  %v71 = fadd <16 x float> %v69, splat (float 0x3FF0000000000000)
  %v72 = select <16 x i1> %v53, <16 x float> %v70, <16 x float> splat (float 0x0000000000000000)
  %v73 = select <16 x i1> %v57, <16 x float> %v71, <16 x float> splat (float 0x0000000000000000)
  %v74 = load <16 x float>, ptr %a15
  %v75 = fadd <16 x float> %v72, %v74
  store <16 x float> %v75, ptr %a15
  %v76 = load <16 x float>, ptr %a16
  %v77 = fadd <16 x float> %v73, %v76
  store <16 x float> %v77, ptr %a16
  %v44 = add nuw nsw i64 %v43, 1
  %v78 = icmp slt i64 %v44, 4
  br i1 %v78, label %b41, label %b42
b42:
  %v79 = load <16 x float>, ptr %a15
  %v80 = load <16 x float>, ptr %a16
  %v81 = fadd <16 x float> %v79, %v80
  %v82 = shufflevector <16 x float> %v81, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v83 = shufflevector <16 x float> %v81, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v84 = fadd <8 x float> %v82, %v83
  %v85 = shufflevector <8 x float> %v84, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v86 = shufflevector <8 x float> %v84, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v87 = fadd <4 x float> %v85, %v86
  %v88 = shufflevector <4 x float> %v87, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %v89 = shufflevector <4 x float> %v87, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %v90 = fadd <2 x float> %v88, %v89
  %v91 = shufflevector <2 x float> %v90, <2 x float> poison, <1 x i32> <i32 0>
  %v92 = shufflevector <2 x float> %v90, <2 x float> poison, <1 x i32> <i32 1>
  %v93 = extractelement <1 x float> %v91, i64 0
  %v94 = extractelement <1 x float> %v92, i64 0
  %v95 = fadd float %v93, %v94
  %v96 = getelementptr float, ptr %v2, i64 %v12
  store float %v95, ptr %v96, align 4
  %v13 = add nuw nsw i64 %v12, 1
  %v97 = icmp slt i64 %v13, %end
  br i1 %v97, label %b9, label %b10
b10:
  ret void
}
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, <16 x i1>, <16 x float>)
declare i1 @llvm.vector.reduce.or.v16i1(<16 x i1>)
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
