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
  %v9 = icmp slt i64 %begin, %end
  br i1 %v9, label %b7, label %b8
b7:
  %v10 = phi i64 [ %begin, %entry ], [ %v11, %b22 ]
  %v12 = mul i64 %v10, 32
  %v13 = urem i64 %v10, 2
  %v14 = call i64 @llvm.expect.i64(i64 %v13, i64 0)
  %v15 = mul i64 %v14, 32
  %v16 = udiv i64 %v10, 2
  %v17 = getelementptr i64, ptr %v6, i64 %v16
  %v18 = load i64, ptr %v17, align 8
  %v19 = icmp ult i64 %v18, 9
  %v20 = xor i1 %v19, true
  br i1 %v20, label %b21, label %b22
b21:
  %v23 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b22
b22:
  %v24 = select i1 %v19, i64 %v18, i64 0
  %v25 = mul i64 %v24, 64
  %v26 = add i64 %v15, %v25
  %v27 = add i64 %v15, 16
  %v28 = add i64 %v27, %v25
  %v29 = getelementptr float, ptr %v4, i64 %v26
  %v30 = load <16 x float>, ptr %v29, align 4
  %v31 = getelementptr float, ptr %v4, i64 %v28
  %v32 = load <16 x float>, ptr %v31, align 4
  %v33 = getelementptr float, ptr %v2, i64 %v12
  store <16 x float> %v30, ptr %v33, align 4
  %v34 = getelementptr float, ptr %v33, i64 16
  store <16 x float> %v32, ptr %v34, align 4
  %v11 = add nuw nsw i64 %v10, 1
  %v35 = icmp slt i64 %v11, %end
  br i1 %v35, label %b7, label %b8
b8:
  ret void
}
declare i64 @llvm.expect.i64(i64, i64)
attributes #0 = { nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512" }
