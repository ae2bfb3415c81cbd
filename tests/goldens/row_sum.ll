; reduce_parallel8_loop4_upcast2_lane16
; axes: parallel 8, loop 4, upcast 2, lane 16
define void @"reduce_parallel8_loop4_upcast2_lane16"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %a11 = alloca <16 x float>, align 64
  %a12 = alloca <16 x float>, align 64
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v7 = icmp slt i64 %begin, %end
  br i1 %v7, label %b5, label %b6
b5:
  %v8 = phi i64 [ %begin, %entry ], [ %v9, %b32 ]
  %v10 = mul i64 %v8, 100
  store <16 x float> splat (float 0x0000000000000000), ptr %a11
  store <16 x float> splat (float 0x0000000000000000), ptr %a12
  br label %b13
b13:
  %v15 = phi i64 [ 0, %b5 ], [ %v16, %b13 ]
  %v17 = mul i64 %v15, -32
  %v18 = mul i64 %v15, 32
  %v19 = add i64 %v10, %v18
  %v20 = getelementptr float, ptr %v4, i64 %v19
  %v21 = load <16 x float>, ptr %v20, align 4
  %v22 = getelementptr float, ptr %v20, i64 16
  %v23 = load <16 x float>, ptr %v22, align 4
  %v24 = fadd <16 x float> %v21, splat (float 0x3FF0000000000000)
  %v25 = fadd <16 x float> %v23, splat (float 0x3FF0000000000000)
  %v26 = load <16 x float>, ptr %a11
  %v27 = fadd <16 x float> %v24, %v26
  store <16 x float> %v27, ptr %a11
  %v28 = load <16 x float>, ptr %a12
  %v29 = fadd <16 x float> %v25, %v28
  store <16 x float> %v29, ptr %a12
  %v16 = add nuw nsw i64 %v15, 1
  %v30 = icmp slt i64 %v16, 3
  br i1 %v30, label %b13, label %b14
b14:
  br label %b31
b31:
  %v33 = phi i64 [ 3, %b14 ], [ %v34, %b31 ]
  %v35 = mul i64 %v33, -32
  %v36 = add i64 %v35, 100
  %v37 = trunc i64 %v36 to i32
  %v38 = insertelement <16 x i32> poison, i32 %v37, i64 0
  %v39 = shufflevector <16 x i32> %v38, <16 x i32> poison, <16 x i32> zeroinitializer
  %v40 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v39
  %v41 = add i64 %v35, 84
  %v42 = trunc i64 %v41 to i32
  %v43 = insertelement <16 x i32> poison, i32 %v42, i64 0
  %v44 = shufflevector <16 x i32> %v43, <16 x i32> poison, <16 x i32> zeroinitializer
  %v45 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v44
  %v46 = mul i64 %v33, 32
  %v47 = add i64 %v10, %v46
  %v48 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v40)
  %v49 = select i1 %v48, i64 %v47, i64 0
  %v50 = getelementptr float, ptr %v4, i64 %v49
  %v51 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v50, <16 x i1> %v40, <16 x float> zeroinitializer)
  %v52 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v45)
  %v53 = add i64 %v47, 16
  %v54 = select i1 %v52, i64 %v53, i64 0
  %v55 = getelementptr float, ptr %v4, i64 %v54
  %v56 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v55, <16 x i1> %v45, <16 x float> zeroinitializer)
  %v57 = fadd <16 x float> %v51, splat (float 0x3FF0000000000000)
  %v58 = fadd <16 x float> %v56, splat (float 0x3FF0000000000000)
  %v59 = select <16 x i1> %v40, <16 x float> %v57, <16 x float> splat (float 0x0000000000000000)
  %v60 = select <16 x i1> %v45, <16 x float> %v58, <16 x float> splat (float 0x0000000000000000)
  %v61 = load <16 x float>, ptr %a11
  %v62 = fadd <16 x float> %v59, %v61
  store <16 x float> %v62, ptr %a11
  %v63 = load <16 x float>, ptr %a12
  %v64 = fadd <16 x float> %v60, %v63
  store <16 x float> %v64, ptr %a12
  %v34 = add nuw nsw i64 %v33, 1
  %v65 = icmp slt i64 %v34, 4
  br i1 %v65, label %b31, label %b32
b32:
  %v66 = load <16 x float>, ptr %a11
  %v67 = load <16 x float>, ptr %a12
  %v68 = fadd <16 x float> %v66, %v67
  %v69 = shufflevector <16 x float> %v68, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v70 = shufflevector <16 x float> %v68, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v71 = fadd <8 x float> %v69, %v70
  %v72 = shufflevector <8 x float> %v71, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v73 = shufflevector <8 x float> %v71, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v74 = fadd <4 x float> %v72, %v73
  %v75 = shufflevector <4 x float> %v74, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %v76 = shufflevector <4 x float> %v74, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %v77 = fadd <2 x float> %v75, %v76
  %v78 = extractelement <2 x float> %v77, i64 0
  %v79 = extractelement <2 x float> %v77, i64 1
  %v80 = fadd float %v78, %v79
  %v81 = getelementptr float, ptr %v2, i64 %v8
  store float %v80, ptr %v81, align 4
  %v9 = add nuw nsw i64 %v8, 1
  %v82 = icmp slt i64 %v9, %end
  br i1 %v82, label %b5, label %b6
b6:
  ret void
}
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, <16 x i1>, <16 x float>)
declare i1 @llvm.vector.reduce.or.v16i1(<16 x i1>)
attributes #0 = { nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512" }
