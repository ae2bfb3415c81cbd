; elementwise_parallel10_upcast2_lane16
; axes: parallel 10, upcast 2, lane 16
define void @"elementwise_parallel10_upcast2_lane16"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
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
  %v12 = phi i64 [ %begin, %entry ], [ %v13, %b27 ]
  %v14 = mul i64 %v12, 32
  %v15 = add i64 %v14, %v7
  %v16 = add i64 %v14, %v8
  %v17 = urem i64 %v12, 2
  %v18 = mul i64 %v17, 32
  %v19 = add i64 %v18, %v7
  %v20 = add i64 %v18, %v8
  %v21 = udiv i64 %v12, 2
  %v22 = getelementptr i64, ptr %v6, i64 %v21
  %v23 = load i64, ptr %v22, align 8
  %v24 = icmp ult i64 %v23, 9
  %v25 = xor i1 %v24, true
  br i1 %v25, label %b26, label %b27
b26:
  %v28 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b27
b27:
  %v29 = select i1 %v24, i64 %v23, i64 0
  %v30 = mul i64 %v29, 64
  %v31 = add i64 %v19, %v30
  %v32 = add i64 %v20, %v30
  %v33 = getelementptr float, ptr %v4, i64 %v31
  %v34 = load <16 x float>, ptr %v33, align 4
  %v35 = getelementptr float, ptr %v4, i64 %v32
  %v36 = load <16 x float>, ptr %v35, align 4
  %v37 = getelementptr float, ptr %v2, i64 %v15
  store <16 x float> %v34, ptr %v37, align 4
  %v38 = getelementptr float, ptr %v2, i64 %v16
  store <16 x float> %v36, ptr %v38, align 4
  %v13 = add nuw nsw i64 %v12, 1
  %v39 = icmp slt i64 %v13, %end
  br i1 %v39, label %b9, label %b10
b10:
  ret void
}
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
