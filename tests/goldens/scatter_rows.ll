; scatter_parallel2_loop5_upcast2_lane16
; axes: parallel 2, loop 5, upcast 2, lane 16
define void @"scatter_parallel2_loop5_upcast2_lane16"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr inbounds i64, ptr %arguments, i64 2
  %v6 = load ptr, ptr %v5
  %v7 = mul i64 0, 16
  %v8 = mul i64 1, 16
  %v11 = icmp slt i64 %begin, %end
  br i1 %v11, label %b9, label %b10
b9:
  %v12 = phi i64 [ %begin, %entry ], [ %v13, %b18 ]
  %v14 = mul i64 %v12, 32
  %v15 = add i64 %v14, %v7
  %v16 = add i64 %v14, %v8
  br label %b17
b17:
  %v19 = phi i64 [ 0, %b9 ], [ %v20, %b26 ]
  %v21 = getelementptr i64, ptr %v6, i64 %v19
  %v22 = load i64, ptr %v21, align 8
  %v23 = icmp ult i64 %v22, 9
  %v24 = xor i1 %v23, true
  br i1 %v24, label %b25, label %b26
b25:
  %v27 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b26
b26:
  %v28 = select i1 %v23, i64 %v22, i64 0
  %v29 = mul i64 %v28, 64
  %v30 = add i64 %v15, %v29
  %v31 = add i64 %v16, %v29
  %v32 = mul i64 %v19, 64
  %v33 = add i64 %v14, %v32
  %v34 = add i64 %v33, %v7
  %v35 = add i64 %v33, %v8
  %v36 = getelementptr float, ptr %v4, i64 %v34
  %v37 = load <16 x float>, ptr %v36, align 4
  %v38 = getelementptr float, ptr %v4, i64 %v35
  %v39 = load <16 x float>, ptr %v38, align 4
  %v40 = getelementptr float, ptr %v2, i64 %v30
  %v41 = load <16 x float>, ptr %v40, align 4
  %v42 = fadd <16 x float> %v41, %v37
  %v43 = getelementptr float, ptr %v2, i64 %v30
  store <16 x float> %v42, ptr %v43, align 4
  %v44 = getelementptr float, ptr %v2, i64 %v31
  %v45 = load <16 x float>, ptr %v44, align 4
  %v46 = fadd <16 x float> %v45, %v39
  %v47 = getelementptr float, ptr %v2, i64 %v31
  store <16 x float> %v46, ptr %v47, align 4
  %v20 = add nuw nsw i64 %v19, 1
  %v48 = icmp slt i64 %v20, 5
  br i1 %v48, label %b17, label %b18
b18:
  %v13 = add nuw nsw i64 %v12, 1
  %v49 = icmp slt i64 %v13, %end
  br i1 %v49, label %b9, label %b10
b10:
  ret void
}
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
