; elementwise_lane8
; axes: lane 8
define void @"elementwise_lane8"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = icmp slt <8 x i64> splat (i64 1), <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %v6 = trunc i64 7 to i32
  %v7 = insertelement <8 x i32> poison, i32 %v6, i64 0
  %v8 = shufflevector <8 x i32> %v7, <8 x i32> poison, <8 x i32> zeroinitializer
  %v9 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v8
  %v10 = and <8 x i1> %v5, %v9
  %v11 = call i1 @llvm.vector.reduce.or.v8i1(<8 x i1> %v10)
  %v12 = select i1 %v11, i64 -2, i64 0
  %v13 = getelementptr float, ptr %v4, i64 %v12
  %v14 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr align 4 %v13, <8 x i1> %v10, <8 x float> zeroinitializer)
  %v15 = select <8 x i1> %v10, <8 x float> %v14, <8 x float> splat (float 0x401C000000000000)
  store <8 x float> %v15, ptr %v2, align 4
  ret void
}
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, <8 x i1>, <8 x float>)
declare i1 @llvm.vector.reduce.or.v8i1(<8 x i1>)
attributes #0 = { nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512" }
