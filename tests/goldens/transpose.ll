; elementwise_parallel8_lane16_upcast16
; axes: parallel 8, lane 16, upcast 16
define void @"elementwise_parallel8_lane16_upcast16"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v7 = icmp slt i64 %begin, %end
  br i1 %v7, label %b5, label %b6
b5:
  %v8 = phi i64 [ %begin, %entry ], [ %v9, %b5 ]
  %v10 = udiv i64 %v8, 2
  %v11 = mul i64 %v10, 16
  %v12 = urem i64 %v8, 2
  %v13 = call i64 @llvm.expect.i64(i64 %v12, i64 0)
  %v14 = mul i64 %v13, 1024
  %v15 = add i64 %v11, %v14
  %v16 = mul i64 %v10, 512
  %v17 = mul i64 %v13, 16
  %v18 = add i64 %v16, %v17
  %v19 = getelementptr float, ptr %v4, i64 %v18
  %v20 = load <16 x float>, ptr %v19, align 4
  %v21 = getelementptr float, ptr %v19, i64 32
  %v22 = load <16 x float>, ptr %v21, align 4
  %v23 = getelementptr float, ptr %v19, i64 64
  %v24 = load <16 x float>, ptr %v23, align 4
  %v25 = getelementptr float, ptr %v19, i64 96
  %v26 = load <16 x float>, ptr %v25, align 4
  %v27 = getelementptr float, ptr %v19, i64 128
  %v28 = load <16 x float>, ptr %v27, align 4
  %v29 = getelementptr float, ptr %v19, i64 160
  %v30 = load <16 x float>, ptr %v29, align 4
  %v31 = getelementptr float, ptr %v19, i64 192
  %v32 = load <16 x float>, ptr %v31, align 4
  %v33 = getelementptr float, ptr %v19, i64 224
  %v34 = load <16 x float>, ptr %v33, align 4
  %v35 = getelementptr float, ptr %v19, i64 256
  %v36 = load <16 x float>, ptr %v35, align 4
  %v37 = getelementptr float, ptr %v19, i64 288
  %v38 = load <16 x float>, ptr %v37, align 4
  %v39 = getelementptr float, ptr %v19, i64 320
  %v40 = load <16 x float>, ptr %v39, align 4
  %v41 = getelementptr float, ptr %v19, i64 352
  %v42 = load <16 x float>, ptr %v41, align 4
  %v43 = getelementptr float, ptr %v19, i64 384
  %v44 = load <16 x float>, ptr %v43, align 4
  %v45 = getelementptr float, ptr %v19, i64 416
  %v46 = load <16 x float>, ptr %v45, align 4
  %v47 = getelementptr float, ptr %v19, i64 448
  %v48 = load <16 x float>, ptr %v47, align 4
  %v49 = getelementptr float, ptr %v19, i64 480
  %v50 = load <16 x float>, ptr %v49, align 4
  %v51 = shufflevector <16 x float> %v20, <16 x float> %v22, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v52 = shufflevector <16 x float> %v24, <16 x float> %v26, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v53 = shufflevector <16 x float> %v20, <16 x float> %v22, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v54 = shufflevector <16 x float> %v24, <16 x float> %v26, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v55 = shufflevector <16 x float> %v51, <16 x float> %v52, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v56 = shufflevector <16 x float> %v51, <16 x float> %v52, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v57 = shufflevector <16 x float> %v53, <16 x float> %v54, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v58 = shufflevector <16 x float> %v53, <16 x float> %v54, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v59 = shufflevector <16 x float> %v28, <16 x float> %v30, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v60 = shufflevector <16 x float> %v32, <16 x float> %v34, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v61 = shufflevector <16 x float> %v28, <16 x float> %v30, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v62 = shufflevector <16 x float> %v32, <16 x float> %v34, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v63 = shufflevector <16 x float> %v59, <16 x float> %v60, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v64 = shufflevector <16 x float> %v59, <16 x float> %v60, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v65 = shufflevector <16 x float> %v61, <16 x float> %v62, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v66 = shufflevector <16 x float> %v61, <16 x float> %v62, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v67 = shufflevector <16 x float> %v36, <16 x float> %v38, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v68 = shufflevector <16 x float> %v40, <16 x float> %v42, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v69 = shufflevector <16 x float> %v36, <16 x float> %v38, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v70 = shufflevector <16 x float> %v40, <16 x float> %v42, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v71 = shufflevector <16 x float> %v67, <16 x float> %v68, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v72 = shufflevector <16 x float> %v67, <16 x float> %v68, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v73 = shufflevector <16 x float> %v69, <16 x float> %v70, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v74 = shufflevector <16 x float> %v69, <16 x float> %v70, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v75 = shufflevector <16 x float> %v44, <16 x float> %v46, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v76 = shufflevector <16 x float> %v48, <16 x float> %v50, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v77 = shufflevector <16 x float> %v44, <16 x float> %v46, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v78 = shufflevector <16 x float> %v48, <16 x float> %v50, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v79 = shufflevector <16 x float> %v75, <16 x float> %v76, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v80 = shufflevector <16 x float> %v75, <16 x float> %v76, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v81 = shufflevector <16 x float> %v77, <16 x float> %v78, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v82 = shufflevector <16 x float> %v77, <16 x float> %v78, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v83 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v55)
  %v84 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v63)
  %v85 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v71)
  %v86 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v79)
  %v87 = shufflevector <16 x float> %v83, <16 x float> %v84, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v88 = shufflevector <16 x float> %v85, <16 x float> %v86, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v89 = shufflevector <16 x float> %v83, <16 x float> %v84, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v90 = shufflevector <16 x float> %v85, <16 x float> %v86, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v91 = shufflevector <16 x float> %v87, <16 x float> %v88, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v92 = shufflevector <16 x float> %v87, <16 x float> %v88, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v93 = shufflevector <16 x float> %v89, <16 x float> %v90, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v94 = shufflevector <16 x float> %v89, <16 x float> %v90, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v95 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v56)
  %v96 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v64)
  %v97 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v72)
  %v98 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v80)
  %v99 = shufflevector <16 x float> %v95, <16 x float> %v96, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v100 = shufflevector <16 x float> %v97, <16 x float> %v98, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v101 = shufflevector <16 x float> %v95, <16 x float> %v96, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v102 = shufflevector <16 x float> %v97, <16 x float> %v98, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v103 = shufflevector <16 x float> %v99, <16 x float> %v100, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v104 = shufflevector <16 x float> %v99, <16 x float> %v100, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v105 = shufflevector <16 x float> %v101, <16 x float> %v102, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v106 = shufflevector <16 x float> %v101, <16 x float> %v102, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v107 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v57)
  %v108 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v65)
  %v109 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v73)
  %v110 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v81)
  %v111 = shufflevector <16 x float> %v107, <16 x float> %v108, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v112 = shufflevector <16 x float> %v109, <16 x float> %v110, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v113 = shufflevector <16 x float> %v107, <16 x float> %v108, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v114 = shufflevector <16 x float> %v109, <16 x float> %v110, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v115 = shufflevector <16 x float> %v111, <16 x float> %v112, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v116 = shufflevector <16 x float> %v111, <16 x float> %v112, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v117 = shufflevector <16 x float> %v113, <16 x float> %v114, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v118 = shufflevector <16 x float> %v113, <16 x float> %v114, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v119 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v58)
  %v120 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v66)
  %v121 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v74)
  %v122 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v82)
  %v123 = shufflevector <16 x float> %v119, <16 x float> %v120, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v124 = shufflevector <16 x float> %v121, <16 x float> %v122, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v125 = shufflevector <16 x float> %v119, <16 x float> %v120, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v126 = shufflevector <16 x float> %v121, <16 x float> %v122, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v127 = shufflevector <16 x float> %v123, <16 x float> %v124, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v128 = shufflevector <16 x float> %v123, <16 x float> %v124, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v129 = shufflevector <16 x float> %v125, <16 x float> %v126, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v130 = shufflevector <16 x float> %v125, <16 x float> %v126, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v131 = getelementptr float, ptr %v2, i64 %v15
  store <16 x float> %v91, ptr %v131, align 4
  %v132 = getelementptr float, ptr %v131, i64 64
  store <16 x float> %v103, ptr %v132, align 4
  %v133 = getelementptr float, ptr %v131, i64 128
  store <16 x float> %v115, ptr %v133, align 4
  %v134 = getelementptr float, ptr %v131, i64 192
  store <16 x float> %v127, ptr %v134, align 4
  %v135 = getelementptr float, ptr %v131, i64 256
  store <16 x float> %v93, ptr %v135, align 4
  %v136 = getelementptr float, ptr %v131, i64 320
  store <16 x float> %v105, ptr %v136, align 4
  %v137 = getelementptr float, ptr %v131, i64 384
  store <16 x float> %v117, ptr %v137, align 4
  %v138 = getelementptr float, ptr %v131, i64 448
  store <16 x float> %v129, ptr %v138, align 4
  %v139 = getelementptr float, ptr %v131, i64 512
  store <16 x float> %v92, ptr %v139, align 4
  %v140 = getelementptr float, ptr %v131, i64 576
  store <16 x float> %v104, ptr %v140, align 4
  %v141 = getelementptr float, ptr %v131, i64 640
  store <16 x float> %v116, ptr %v141, align 4
  %v142 = getelementptr float, ptr %v131, i64 704
  store <16 x float> %v128, ptr %v142, align 4
  %v143 = getelementptr float, ptr %v131, i64 768
  store <16 x float> %v94, ptr %v143, align 4
  %v144 = getelementptr float, ptr %v131, i64 832
  store <16 x float> %v106, ptr %v144, align 4
  %v145 = getelementptr float, ptr %v131, i64 896
  store <16 x float> %v118, ptr %v145, align 4
  %v146 = getelementptr float, ptr %v131, i64 960
  store <16 x float> %v130, ptr %v146, align 4
  %v9 = add nuw nsw i64 %v8, 1
  %v147 = icmp slt i64 %v9, %end
  br i1 %v147, label %b5, label %b6
b6:
  ret void
}
declare <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float>)
declare i64 @llvm.expect.i64(i64, i64)
attributes #0 = { nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512" }
