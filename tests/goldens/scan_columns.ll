; scan_parallel4_loop6_lane16
; axes: parallel 4, loop 6, lane 16
define void @"scan_parallel4_loop6_lane16"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %a11 = alloca <16 x double>, align 64
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v7 = icmp slt i64 %begin, %end
  br i1 %v7, label %b5, label %b6
b5:
  %v8 = phi i64 [ %begin, %entry ], [ %v9, %b13 ]
  %v10 = mul i64 %v8, 16
  store <16 x double> splat (double 0x0000000000000000), ptr %a11
  br label %b12
b12:
  %v14 = phi i64 [ 0, %b5 ], [ %v15, %b12 ]
  %v16 = mul i64 %v14, 64
  %v17 = add i64 %v10, %v16
  %v18 = getelementptr float, ptr %v4, i64 %v17
  %v19 = load <16 x float>, ptr %v18, align 4
  %v20 = fpext <16 x float> %v19 to <16 x double>
  %v21 = load <16 x double>, ptr %a11
  %v22 = fadd <16 x double> %v21, %v20
  store <16 x double> %v22, ptr %a11
  %v23 = fptrunc <16 x double> %v22 to <16 x float>
  %v24 = getelementptr float, ptr %v2, i64 %v17
  store <16 x float> %v23, ptr %v24, align 4
  %v15 = add nuw nsw i64 %v14, 1
  %v25 = icmp slt i64 %v15, 6
  br i1 %v25, label %b12, label %b13
b13:
  %v9 = add nuw nsw i64 %v8, 1
  %v26 = icmp slt i64 %v9, %end
  br i1 %v26, label %b5, label %b6
b6:
  ret void
}
attributes #0 = { nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512" }
