; elementwise_lane16
; axes: lane 16
define void @"elementwise_lane16"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr inbounds i64, ptr %arguments, i64 2
  %v6 = load ptr, ptr %v5
  %v7 = icmp slt i64 10, 16
  %v8 = select i1 %v7, i64 10, i64 16
  %v9 = icmp sgt i64 %v8, 0
  %v10 = select i1 %v9, i64 %v8, i64 0
  %v11 = trunc i64 %v10 to i32
  %v12 = insertelement <16 x i32> poison, i32 %v11, i64 0
  %v13 = shufflevector <16 x i32> %v12, <16 x i32> poison, <16 x i32> zeroinitializer
  %v14 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v13
  %v15 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v14)
  %v16 = select i1 %v15, i64 0, i64 0
  %v17 = getelementptr float, ptr %v4, i64 %v16
  %v18 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v17, <16 x i1> %v14, <16 x float> zeroinitializer)
  %v19 = fcmp olt <16 x float> splat (float 0x0000000000000000), %v18
  %v20 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v14)
  %v21 = select i1 %v20, i64 0, i64 0
  %v22 = getelementptr float, ptr %v6, i64 %v21
  %v23 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %v22, <16 x i1> %v14, <16 x float> zeroinitializer)
  %v24 = fcmp olt <16 x float> %v23, splat (float 0x3FF0000000000000)
  %v25 = and <16 x i1> %v19, %v24
  %v26 = zext <16 x i1> %v25 to <16 x i8>
  %v27 = getelementptr i8, ptr %v2, i64 0
  call void @llvm.masked.store.v16i8.p0(<16 x i8> %v26, ptr align 1 %v27, <16 x i1> %v14)
  ret void
}
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, <16 x i1>, <16 x float>)
declare i1 @llvm.vector.reduce.or.v16i1(<16 x i1>)
declare void @llvm.masked.store.v16i8.p0(<16 x i8>, ptr, <16 x i1>)
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
