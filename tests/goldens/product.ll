; product_loop8_lane16_upcast4
; axes: loop 8, lane 16, upcast 4
define void @"product_loop8_lane16_upcast4"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %a7 = alloca <16 x float>, align 64
  %a8 = alloca <16 x float>, align 64
  %a9 = alloca <16 x float>, align 64
  %a10 = alloca <16 x float>, align 64
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr inbounds i64, ptr %arguments, i64 2
  %v6 = load ptr, ptr %v5
  store <16 x float> splat (float 0x0000000000000000), ptr %a7
  store <16 x float> splat (float 0x0000000000000000), ptr %a8
  store <16 x float> splat (float 0x0000000000000000), ptr %a9
  store <16 x float> splat (float 0x0000000000000000), ptr %a10
  br label %b11
b11:
  %v13 = phi i64 [ 0, %entry ], [ %v14, %b11 ]
  %v15 = getelementptr float, ptr %v4, i64 %v13
  %v16 = load float, ptr %v15, align 4
  %v17 = getelementptr float, ptr %v15, i64 8
  %v18 = load float, ptr %v17, align 4
  %v19 = getelementptr float, ptr %v15, i64 16
  %v20 = load float, ptr %v19, align 4
  %v21 = getelementptr float, ptr %v15, i64 24
  %v22 = load float, ptr %v21, align 4
  %v23 = mul i64 %v13, 16
  %v24 = getelementptr float, ptr %v6, i64 %v23
  %v25 = load <16 x float>, ptr %v24, align 4
  %v26 = load <16 x float>, ptr %a7
  %v27 = insertelement <16 x float> poison, float %v16, i64 0
  %v28 = shufflevector <16 x float> %v27, <16 x float> poison, <16 x i32> zeroinitializer
  %v29 = call <16 x float> @llvm.fma.v16f32(<16 x float> %v28, <16 x float> %v25, <16 x float> %v26)
  store <16 x float> %v29, ptr %a7
  %v30 = load <16 x float>, ptr %a8
  %v31 = insertelement <16 x float> poison, float %v18, i64 0
  %v32 = shufflevector <16 x float> %v31, <16 x float> poison, <16 x i32> zeroinitializer
  %v33 = call <16 x float> @llvm.fma.v16f32(<16 x float> %v32, <16 x float> %v25, <16 x float> %v30)
  store <16 x float> %v33, ptr %a8
  %v34 = load <16 x float>, ptr %a9
  %v35 = insertelement <16 x float> poison, float %v20, i64 0
  %v36 = shufflevector <16 x float> %v35, <16 x float> poison, <16 x i32> zeroinitializer
  %v37 = call <16 x float> @llvm.fma.v16f32(<16 x float> %v36, <16 x float> %v25, <16 x float> %v34)
  store <16 x float> %v37, ptr %a9
  %v38 = load <16 x float>, ptr %a10
  %v39 = insertelement <16 x float> poison, float %v22, i64 0
  %v40 = shufflevector <16 x float> %v39, <16 x float> poison, <16 x i32> zeroinitializer
  %v41 = call <16 x float> @llvm.fma.v16f32(<16 x float> %v40, <16 x float> %v25, <16 x float> %v38)
  store <16 x float> %v41, ptr %a10
  %v14 = add nuw nsw i64 %v13, 1
  %v42 = icmp slt i64 %v14, 8
  br i1 %v42, label %b11, label %b12
b12:
  %v43 = load <16 x float>, ptr %a7
  %v44 = load <16 x float>, ptr %a8
  %v45 = load <16 x float>, ptr %a9
  %v46 = load <16 x float>, ptr %a10
  store <16 x float> %v43, ptr %v2, align 4
  %v47 = getelementptr float, ptr %v2, i64 16
  store <16 x float> %v44, ptr %v47, align 4
  %v48 = getelementptr float, ptr %v2, i64 32
  store <16 x float> %v45, ptr %v48, align 4
  %v49 = getelementptr float, ptr %v2, i64 48
  store <16 x float> %v46, ptr %v49, align 4
  ret void
}
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
attributes #0 = { nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512" }
