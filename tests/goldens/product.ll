; product_loop8_lane16_upcast4
; axes: loop 8, lane 16, upcast 4
define void @"product_loop8_lane16_upcast4"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %a15 = alloca <16 x float>, align 64
  %a16 = alloca <16 x float>, align 64
  %a17 = alloca <16 x float>, align 64
  %a18 = alloca <16 x float>, align 64
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr inbounds i64, ptr %arguments, i64 2
  %v6 = load ptr, ptr %v5
  %v7 = mul i64 0, 16
  %v8 = mul i64 1, 16
  %v9 = mul i64 2, 16
  %v10 = mul i64 3, 16
  %v11 = mul i64 0, 8
  %v12 = mul i64 1, 8
  %v13 = mul i64 2, 8
  %v14 = mul i64 3, 8
  store <16 x float> splat (float 0x0000000000000000), ptr %a15
  store <16 x float> splat (float 0x0000000000000000), ptr %a16
  store <16 x float> splat (float 0x0000000000000000), ptr %a17
  store <16 x float> splat (float 0x0000000000000000), ptr %a18
  br label %b19
b19:
  %v21 = phi i64 [ 0, %entry ], [ %v22, %b19 ]
  %v23 = add i64 %v21, %v11
  %v24 = add i64 %v21, %v12
  %v25 = add i64 %v21, %v13
  %v26 = add i64 %v21, %v14
  %v27 = getelementptr float, ptr %v4, i64 %v23
  %v28 = load float, ptr %v27, align 4
  %v29 = getelementptr float, ptr %v4, i64 %v24
  %v30 = load float, ptr %v29, align 4
  %v31 = getelementptr float, ptr %v4, i64 %v25
  %v32 = load float, ptr %v31, align 4
  %v33 = getelementptr float, ptr %v4, i64 %v26
  %v34 = load float, ptr %v33, align 4
  %v35 = mul i64 %v21, 16
  %v36 = getelementptr float, ptr %v6, i64 %v35
  %v37 = load <16 x float>, ptr %v36, align 4
  %v38 = load <16 x float>, ptr %a15
  %v39 = insertelement <16 x float> poison, float %v28, i64 0
  %v40 = shufflevector <16 x float> %v39, <16 x float> poison, <16 x i32> zeroinitializer
  %v41 = call <16 x float> @llvm.fma.v16f32(<16 x float> %v40, <16 x float> %v37, <16 x float> %v38)
  store <16 x float> %v41, ptr %a15
  %v42 = load <16 x float>, ptr %a16
  %v43 = insertelement <16 x float> poison, float %v30, i64 0
  %v44 = shufflevector <16 x float> %v43, <16 x float> poison, <16 x i32> zeroinitializer
  %v45 = call <16 x float> @llvm.fma.v16f32(<16 x float> %v44, <16 x float> %v37, <16 x float> %v42)
  store <16 x float> %v45, ptr %a16
  %v46 = load <16 x float>, ptr %a17
  %v47 = insertelement <16 x float> poison, float %v32, i64 0
  %v48 = shufflevector <16 x float> %v47, <16 x float> poison, <16 x i32> zeroinitializer
  %v49 = call <16 x float> @llvm.fma.v16f32(<16 x float> %v48, <16 x float> %v37, <16 x float> %v46)
  store <16 x float> %v49, ptr %a17
  %v50 = load <16 x float>, ptr %a18
  %v51 = insertelement <16 x float> poison, float %v34, i64 0
  %v52 = shufflevector <16 x float> %v51, <16 x float> poison, <16 x i32> zeroinitializer
  %v53 = call <16 x float> @llvm.fma.v16f32(<16 x float> %v52, <16 x float> %v37, <16 x float> %v50)
  store <16 x float> %v53, ptr %a18
  %v22 = add nuw nsw i64 %v21, 1
  %v54 = icmp slt i64 %v22, 8
  br i1 %v54, label %b19, label %b20
b20:
  %v55 = load <16 x float>, ptr %a15
  %v56 = load <16 x float>, ptr %a16
  %v57 = load <16 x float>, ptr %a17
  %v58 = load <16 x float>, ptr %a18
  %v59 = getelementptr float, ptr %v2, i64 %v7
  store <16 x float> %v55, ptr %v59, align 4
  %v60 = getelementptr float, ptr %v2, i64 %v8
  store <16 x float> %v56, ptr %v60, align 4
  %v61 = getelementptr float, ptr %v2, i64 %v9
  store <16 x float> %v57, ptr %v61, align 4
  %v62 = getelementptr float, ptr %v2, i64 %v10
  store <16 x float> %v58, ptr %v62, align 4
  ret void
}
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
