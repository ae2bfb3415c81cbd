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
  %v9 = icmp slt i64 %begin, %end
  br i1 %v9, label %b7, label %b8
b7:
  %v10 = phi i64 [ %begin, %entry ], [ %v11, %b14 ]
  %v12 = mul i64 %v10, 32
  br label %b13
b13:
  %v15 = phi i64 [ 0, %b7 ], [ %v16, %b22 ]
  %v17 = getelementptr i64, ptr %v6, i64 %v15
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
  %v26 = add i64 %v12, %v25
  %v27 = add i64 %v12, 16
  %v28 = add i64 %v27, %v25
  %v29 = mul i64 %v15, 64
  %v30 = add i64 %v12, %v29
  %v31 = getelementptr float, ptr %v4, i64 %v30
  %v32 = load <16 x float>, ptr %v31, align 4
  %v33 = getelementptr float, ptr %v31, i64 16
  %v34 = load <16 x float>, ptr %v33, align 4
  %v35 = getelementptr float, ptr %v2, i64 %v26
  %v36 = load <16 x float>, ptr %v35, align 4
  %v37 = fadd <16 x float> %v36, %v32
  store <16 x float> %v37, ptr %v35, align 4
  %v38 = getelementptr float, ptr %v2, i64 %v28
  %v39 = load <16 x float>, ptr %v38, align 4
  %v40 = fadd <16 x float> %v39, %v34
  store <16 x float> %v40, ptr %v38, align 4
  %v16 = add nuw nsw i64 %v15, 1
  %v41 = icmp slt i64 %v16, 5
  br i1 %v41, label %b13, label %b14
b14:
  %v11 = add nuw nsw i64 %v10, 1
  %v42 = icmp slt i64 %v11, %end
  br i1 %v42, label %b7, label %b8
b8:
  ret void
}
attributes #0 = { nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512" }
