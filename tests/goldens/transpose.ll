; elementwise_parallel8_lane16_upcast16
; axes: parallel 8, lane 16, upcast 16
define void @"elementwise_parallel8_lane16_upcast16"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = mul i64 0, 64
  %v6 = mul i64 1, 64
  %v7 = mul i64 2, 64
  %v8 = mul i64 3, 64
  %v9 = mul i64 4, 64
  %v10 = mul i64 5, 64
  %v11 = mul i64 6, 64
  %v12 = mul i64 7, 64
  %v13 = mul i64 8, 64
  %v14 = mul i64 9, 64
  %v15 = mul i64 10, 64
  %v16 = mul i64 11, 64
  %v17 = mul i64 12, 64
  %v18 = mul i64 13, 64
  %v19 = mul i64 14, 64
  %v20 = mul i64 15, 64
  %v23 = icmp slt i64 %begin, %end
  br i1 %v23, label %b21, label %b22
b21:
  %v24 = phi i64 [ %begin, %entry ], [ %v25, %b21 ]
  %v26 = udiv i64 %v24, 2
  %v27 = mul i64 %v26, 16
  %v28 = urem i64 %v24, 2
  %v29 = mul i64 %v28, 1024
  %v30 = add i64 %v27, %v29
  %v31 = add i64 %v30, %v5
  %v32 = add i64 %v30, %v6
  %v33 = add i64 %v30, %v7
  %v34 = add i64 %v30, %v8
  %v35 = add i64 %v30, %v9
  %v36 = add i64 %v30, %v10
  %v37 = add i64 %v30, %v11
  %v38 = add i64 %v30, %v12
  %v39 = add i64 %v30, %v13
  %v40 = add i64 %v30, %v14
  %v41 = add i64 %v30, %v15
  %v42 = add i64 %v30, %v16
  %v43 = add i64 %v30, %v17
  %v44 = add i64 %v30, %v18
  %v45 = add i64 %v30, %v19
  %v46 = add i64 %v30, %v20
  %v47 = mul i64 %v26, 512
  %v48 = mul i64 %v28, 16
  %v49 = add i64 %v47, %v48
  %v50 = add i64 %v49, 0
  %v51 = add i64 %v49, 1
  %v52 = add i64 %v49, 2
  %v53 = add i64 %v49, 3
  %v54 = add i64 %v49, 4
  %v55 = add i64 %v49, 5
  %v56 = add i64 %v49, 6
  %v57 = add i64 %v49, 7
  %v58 = add i64 %v49, 8
  %v59 = add i64 %v49, 9
  %v60 = add i64 %v49, 10
  %v61 = add i64 %v49, 11
  %v62 = add i64 %v49, 12
  %v63 = add i64 %v49, 13
  %v64 = add i64 %v49, 14
  %v65 = add i64 %v49, 15
  %v66 = add i64 %v50, 0
  %v67 = getelementptr float, ptr %v4, i64 %v66
  %v68 = load <16 x float>, ptr %v67, align 4
  %v69 = add i64 %v50, 32
  %v70 = getelementptr float, ptr %v4, i64 %v69
  %v71 = load <16 x float>, ptr %v70, align 4
  %v72 = add i64 %v50, 64
  %v73 = getelementptr float, ptr %v4, i64 %v72
  %v74 = load <16 x float>, ptr %v73, align 4
  %v75 = add i64 %v50, 96
  %v76 = getelementptr float, ptr %v4, i64 %v75
  %v77 = load <16 x float>, ptr %v76, align 4
  %v78 = add i64 %v50, 128
  %v79 = getelementptr float, ptr %v4, i64 %v78
  %v80 = load <16 x float>, ptr %v79, align 4
  %v81 = add i64 %v50, 160
  %v82 = getelementptr float, ptr %v4, i64 %v81
  %v83 = load <16 x float>, ptr %v82, align 4
  %v84 = add i64 %v50, 192
  %v85 = getelementptr float, ptr %v4, i64 %v84
  %v86 = load <16 x float>, ptr %v85, align 4
  %v87 = add i64 %v50, 224
  %v88 = getelementptr float, ptr %v4, i64 %v87
  %v89 = load <16 x float>, ptr %v88, align 4
  %v90 = add i64 %v50, 256
  %v91 = getelementptr float, ptr %v4, i64 %v90
  %v92 = load <16 x float>, ptr %v91, align 4
  %v93 = add i64 %v50, 288
  %v94 = getelementptr float, ptr %v4, i64 %v93
  %v95 = load <16 x float>, ptr %v94, align 4
  %v96 = add i64 %v50, 320
  %v97 = getelementptr float, ptr %v4, i64 %v96
  %v98 = load <16 x float>, ptr %v97, align 4
  %v99 = add i64 %v50, 352
  %v100 = getelementptr float, ptr %v4, i64 %v99
  %v101 = load <16 x float>, ptr %v100, align 4
  %v102 = add i64 %v50, 384
  %v103 = getelementptr float, ptr %v4, i64 %v102
  %v104 = load <16 x float>, ptr %v103, align 4
  %v105 = add i64 %v50, 416
  %v106 = getelementptr float, ptr %v4, i64 %v105
  %v107 = load <16 x float>, ptr %v106, align 4
  %v108 = add i64 %v50, 448
  %v109 = getelementptr float, ptr %v4, i64 %v108
  %v110 = load <16 x float>, ptr %v109, align 4
  %v111 = add i64 %v50, 480
  %v112 = getelementptr float, ptr %v4, i64 %v111
  %v113 = load <16 x float>, ptr %v112, align 4
  %v114 = shufflevector <16 x float> %v68, <16 x float> %v71, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v115 = shufflevector <16 x float> %v74, <16 x float> %v77, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v116 = shufflevector <16 x float> %v68, <16 x float> %v71, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v117 = shufflevector <16 x float> %v74, <16 x float> %v77, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v118 = shufflevector <16 x float> %v114, <16 x float> %v115, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v119 = shufflevector <16 x float> %v114, <16 x float> %v115, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v120 = shufflevector <16 x float> %v116, <16 x float> %v117, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v121 = shufflevector <16 x float> %v116, <16 x float> %v117, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v122 = shufflevector <16 x float> %v80, <16 x float> %v83, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v123 = shufflevector <16 x float> %v86, <16 x float> %v89, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v124 = shufflevector <16 x float> %v80, <16 x float> %v83, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v125 = shufflevector <16 x float> %v86, <16 x float> %v89, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v126 = shufflevector <16 x float> %v122, <16 x float> %v123, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v127 = shufflevector <16 x float> %v122, <16 x float> %v123, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v128 = shufflevector <16 x float> %v124, <16 x float> %v125, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v129 = shufflevector <16 x float> %v124, <16 x float> %v125, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v130 = shufflevector <16 x float> %v92, <16 x float> %v95, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v131 = shufflevector <16 x float> %v98, <16 x float> %v101, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v132 = shufflevector <16 x float> %v92, <16 x float> %v95, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v133 = shufflevector <16 x float> %v98, <16 x float> %v101, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v134 = shufflevector <16 x float> %v130, <16 x float> %v131, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v135 = shufflevector <16 x float> %v130, <16 x float> %v131, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v136 = shufflevector <16 x float> %v132, <16 x float> %v133, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v137 = shufflevector <16 x float> %v132, <16 x float> %v133, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v138 = shufflevector <16 x float> %v104, <16 x float> %v107, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v139 = shufflevector <16 x float> %v110, <16 x float> %v113, <16 x i32> <i32 0, i32 16, i32 1, i32 17, i32 4, i32 20, i32 5, i32 21, i32 8, i32 24, i32 9, i32 25, i32 12, i32 28, i32 13, i32 29>
  %v140 = shufflevector <16 x float> %v104, <16 x float> %v107, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v141 = shufflevector <16 x float> %v110, <16 x float> %v113, <16 x i32> <i32 2, i32 18, i32 3, i32 19, i32 6, i32 22, i32 7, i32 23, i32 10, i32 26, i32 11, i32 27, i32 14, i32 30, i32 15, i32 31>
  %v142 = shufflevector <16 x float> %v138, <16 x float> %v139, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v143 = shufflevector <16 x float> %v138, <16 x float> %v139, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v144 = shufflevector <16 x float> %v140, <16 x float> %v141, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %v145 = shufflevector <16 x float> %v140, <16 x float> %v141, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %v146 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v118)
  %v147 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v126)
  %v148 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v134)
  %v149 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v142)
  %v150 = shufflevector <16 x float> %v146, <16 x float> %v147, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v151 = shufflevector <16 x float> %v148, <16 x float> %v149, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v152 = shufflevector <16 x float> %v146, <16 x float> %v147, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v153 = shufflevector <16 x float> %v148, <16 x float> %v149, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v154 = shufflevector <16 x float> %v150, <16 x float> %v151, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v155 = shufflevector <16 x float> %v150, <16 x float> %v151, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v156 = shufflevector <16 x float> %v152, <16 x float> %v153, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v157 = shufflevector <16 x float> %v152, <16 x float> %v153, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v158 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v119)
  %v159 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v127)
  %v160 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v135)
  %v161 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v143)
  %v162 = shufflevector <16 x float> %v158, <16 x float> %v159, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v163 = shufflevector <16 x float> %v160, <16 x float> %v161, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v164 = shufflevector <16 x float> %v158, <16 x float> %v159, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v165 = shufflevector <16 x float> %v160, <16 x float> %v161, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v166 = shufflevector <16 x float> %v162, <16 x float> %v163, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v167 = shufflevector <16 x float> %v162, <16 x float> %v163, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v168 = shufflevector <16 x float> %v164, <16 x float> %v165, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v169 = shufflevector <16 x float> %v164, <16 x float> %v165, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v170 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v120)
  %v171 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v128)
  %v172 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v136)
  %v173 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v144)
  %v174 = shufflevector <16 x float> %v170, <16 x float> %v171, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v175 = shufflevector <16 x float> %v172, <16 x float> %v173, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v176 = shufflevector <16 x float> %v170, <16 x float> %v171, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v177 = shufflevector <16 x float> %v172, <16 x float> %v173, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v178 = shufflevector <16 x float> %v174, <16 x float> %v175, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v179 = shufflevector <16 x float> %v174, <16 x float> %v175, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v180 = shufflevector <16 x float> %v176, <16 x float> %v177, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v181 = shufflevector <16 x float> %v176, <16 x float> %v177, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v182 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v121)
  %v183 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v129)
  %v184 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v137)
  %v185 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v145)
  %v186 = shufflevector <16 x float> %v182, <16 x float> %v183, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v187 = shufflevector <16 x float> %v184, <16 x float> %v185, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v188 = shufflevector <16 x float> %v182, <16 x float> %v183, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v189 = shufflevector <16 x float> %v184, <16 x float> %v185, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v190 = shufflevector <16 x float> %v186, <16 x float> %v187, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v191 = shufflevector <16 x float> %v186, <16 x float> %v187, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v192 = shufflevector <16 x float> %v188, <16 x float> %v189, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27>
  %v193 = shufflevector <16 x float> %v188, <16 x float> %v189, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31>
  %v194 = getelementptr float, ptr %v2, i64 %v31
  store <16 x float> %v154, ptr %v194, align 4
  %v195 = getelementptr float, ptr %v2, i64 %v32
  store <16 x float> %v166, ptr %v195, align 4
  %v196 = getelementptr float, ptr %v2, i64 %v33
  store <16 x float> %v178, ptr %v196, align 4
  %v197 = getelementptr float, ptr %v2, i64 %v34
  store <16 x float> %v190, ptr %v197, align 4
  %v198 = getelementptr float, ptr %v2, i64 %v35
  store <16 x float> %v156, ptr %v198, align 4
  %v199 = getelementptr float, ptr %v2, i64 %v36
  store <16 x float> %v168, ptr %v199, align 4
  %v200 = getelementptr float, ptr %v2, i64 %v37
  store <16 x float> %v180, ptr %v200, align 4
  %v201 = getelementptr float, ptr %v2, i64 %v38
  store <16 x float> %v192, ptr %v201, align 4
  %v202 = getelementptr float, ptr %v2, i64 %v39
  store <16 x float> %v155, ptr %v202, align 4
  %v203 = getelementptr float, ptr %v2, i64 %v40
  store <16 x float> %v167, ptr %v203, align 4
  %v204 = getelementptr float, ptr %v2, i64 %v41
  store <16 x float> %v179, ptr %v204, align 4
  %v205 = getelementptr float, ptr %v2, i64 %v42
  store <16 x float> %v191, ptr %v205, align 4
  %v206 = getelementptr float, ptr %v2, i64 %v43
  store <16 x float> %v157, ptr %v206, align 4
  %v207 = getelementptr float, ptr %v2, i64 %v44
  store <16 x float> %v169, ptr %v207, align 4
  %v208 = getelementptr float, ptr %v2, i64 %v45
  store <16 x float> %v181, ptr %v208, align 4
  %v209 = getelementptr float, ptr %v2, i64 %v46
  store <16 x float> %v193, ptr %v209, align 4
  %v25 = add nuw nsw i64 %v24, 1
  %v210 = icmp slt i64 %v25, %end
  br i1 %v210, label %b21, label %b22
b22:
  ret void
}
declare <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float>)
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
