; elementwise_lane8
; axes: lane 8
define void @"elementwise_lane8"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = trunc i64 1 to i32
  %v6 = insertelement <8 x i32> poison, i32 %v5, i64 0
  %v7 = shufflevector <8 x i32> %v6, <8 x i32> poison, <8 x i32> zeroinitializer
  %v8 = icmp slt <8 x i32> %v7, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v9 = trunc i64 7 to i32
  %v10 = insertelement <8 x i32> poison, i32 %v9, i64 0
  %v11 = shufflevector <8 x i32> %v10, <8 x i32> poison, <8 x i32> zeroinitializer
  %v12 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v11
  %v13 = and <8 x i1> %v8, %v12
  %v14 = call i1 @llvm.vector.reduce.or.v8i1(<8 x i1> %v13)
  %v15 = select i1 %v14, i64 -2, i64 0
  %v16 = getelementptr float, ptr %v4, i64 %v15
  %v17 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr align 4 %v16, <8 x i1> %v13, <8 x float> zeroinitializer)
  %v18 = select <8 x i1> %v13, <8 x float> %v17, <8 x float> splat (float 0x401C000000000000)
  store <8 x float> %v18, ptr %v2, align 4
  ret void
}
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, <8 x i1>, <8 x float>)
declare i1 @llvm.vector.reduce.or.v8i1(<8 x i1>)
attributes #0 = { nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512" }
