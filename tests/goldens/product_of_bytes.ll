; product_parallel4_loop8_upcast2_lane16_upcast8
; axes: parallel 4, loop 8, upcast 2, lane 16, upcast 8
define void @"product_parallel4_loop8_upcast2_lane16_upcast8"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %a19 = alloca <16 x i32>, align 64
  %a20 = alloca <16 x i32>, align 64
  %a21 = alloca <16 x i32>, align 64
  %a22 = alloca <16 x i32>, align 64
  %a23 = alloca <16 x i32>, align 64
  %a24 = alloca <16 x i32>, align 64
  %a25 = alloca <16 x i32>, align 64
  %a26 = alloca <16 x i32>, align 64
  %a27 = alloca <16 x i32>, align 64
  %a28 = alloca <16 x i32>, align 64
  %a29 = alloca <16 x i32>, align 64
  %a30 = alloca <16 x i32>, align 64
  %a31 = alloca <16 x i32>, align 64
  %a32 = alloca <16 x i32>, align 64
  %a33 = alloca <16 x i32>, align 64
  %a34 = alloca <16 x i32>, align 64
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr inbounds i64, ptr %arguments, i64 2
  %v6 = load ptr, ptr %v5
  %v7 = getelementptr inbounds i64, ptr %arguments, i64 3
  %v8 = load ptr, ptr %v7
  %v9 = load <16 x i32>, ptr %v8, align 4
  %v10 = getelementptr i32, ptr %v8, i64 16
  %v11 = load <16 x i32>, ptr %v10, align 4
  %v14 = icmp slt i64 %begin, %end
  br i1 %v14, label %b12, label %b13
b12:
  %v15 = phi i64 [ %begin, %entry ], [ %v16, %b36 ]
  %v17 = mul i64 %v15, 256
  %v18 = mul i64 %v15, 64
  store <16 x i32> splat (i32 0), ptr %a19
  store <16 x i32> splat (i32 0), ptr %a20
  store <16 x i32> splat (i32 0), ptr %a21
  store <16 x i32> splat (i32 0), ptr %a22
  store <16 x i32> splat (i32 0), ptr %a23
  store <16 x i32> splat (i32 0), ptr %a24
  store <16 x i32> splat (i32 0), ptr %a25
  store <16 x i32> splat (i32 0), ptr %a26
  store <16 x i32> splat (i32 0), ptr %a27
  store <16 x i32> splat (i32 0), ptr %a28
  store <16 x i32> splat (i32 0), ptr %a29
  store <16 x i32> splat (i32 0), ptr %a30
  store <16 x i32> splat (i32 0), ptr %a31
  store <16 x i32> splat (i32 0), ptr %a32
  store <16 x i32> splat (i32 0), ptr %a33
  store <16 x i32> splat (i32 0), ptr %a34
  br label %b35
b35:
  %v37 = phi i64 [ 0, %b12 ], [ %v38, %b35 ]
  %v39 = mul i64 %v37, 8
  %v40 = add i64 %v18, %v39
  %v41 = getelementptr i32, ptr %v4, i64 %v40
  %v42 = load i32, ptr %v41, align 4
  %v43 = getelementptr i32, ptr %v41, i64 1
  %v44 = load i32, ptr %v43, align 4
  %v45 = getelementptr i32, ptr %v41, i64 2
  %v46 = load i32, ptr %v45, align 4
  %v47 = getelementptr i32, ptr %v41, i64 3
  %v48 = load i32, ptr %v47, align 4
  %v49 = getelementptr i32, ptr %v41, i64 4
  %v50 = load i32, ptr %v49, align 4
  %v51 = getelementptr i32, ptr %v41, i64 5
  %v52 = load i32, ptr %v51, align 4
  %v53 = getelementptr i32, ptr %v41, i64 6
  %v54 = load i32, ptr %v53, align 4
  %v55 = getelementptr i32, ptr %v41, i64 7
  %v56 = load i32, ptr %v55, align 4
  %v57 = mul i64 %v37, 32
  %v58 = getelementptr i32, ptr %v6, i64 %v57
  %v59 = load <16 x i32>, ptr %v58, align 4
  %v60 = getelementptr i32, ptr %v58, i64 16
  %v61 = load <16 x i32>, ptr %v60, align 4
  %v62 = load <16 x i32>, ptr %a19
  %v63 = insertelement <16 x i32> poison, i32 %v42, i64 0
  %v64 = shufflevector <16 x i32> %v63, <16 x i32> poison, <16 x i32> zeroinitializer
  %v65 = bitcast <16 x i32> %v64 to <64 x i8>
  %v66 = bitcast <16 x i32> %v59 to <64 x i8>
  %v67 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v62, <64 x i8> %v65, <64 x i8> %v66)
  store <16 x i32> %v67, ptr %a19
  %v68 = load <16 x i32>, ptr %a27
  %v69 = bitcast <16 x i32> %v64 to <64 x i8>
  %v70 = bitcast <16 x i32> %v61 to <64 x i8>
  %v71 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v68, <64 x i8> %v69, <64 x i8> %v70)
  store <16 x i32> %v71, ptr %a27
  %v72 = load <16 x i32>, ptr %a20
  %v73 = insertelement <16 x i32> poison, i32 %v44, i64 0
  %v74 = shufflevector <16 x i32> %v73, <16 x i32> poison, <16 x i32> zeroinitializer
  %v75 = bitcast <16 x i32> %v74 to <64 x i8>
  %v76 = bitcast <16 x i32> %v59 to <64 x i8>
  %v77 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v72, <64 x i8> %v75, <64 x i8> %v76)
  store <16 x i32> %v77, ptr %a20
  %v78 = load <16 x i32>, ptr %a28
  %v79 = bitcast <16 x i32> %v74 to <64 x i8>
  %v80 = bitcast <16 x i32> %v61 to <64 x i8>
  %v81 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v78, <64 x i8> %v79, <64 x i8> %v80)
  store <16 x i32> %v81, ptr %a28
  %v82 = load <16 x i32>, ptr %a21
  %v83 = insertelement <16 x i32> poison, i32 %v46, i64 0
  %v84 = shufflevector <16 x i32> %v83, <16 x i32> poison, <16 x i32> zeroinitializer
  %v85 = bitcast <16 x i32> %v84 to <64 x i8>
  %v86 = bitcast <16 x i32> %v59 to <64 x i8>
  %v87 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v82, <64 x i8> %v85, <64 x i8> %v86)
  store <16 x i32> %v87, ptr %a21
  %v88 = load <16 x i32>, ptr %a29
  %v89 = bitcast <16 x i32> %v84 to <64 x i8>
  %v90 = bitcast <16 x i32> %v61 to <64 x i8>
  %v91 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v88, <64 x i8> %v89, <64 x i8> %v90)
  store <16 x i32> %v91, ptr %a29
  %v92 = load <16 x i32>, ptr %a22
  %v93 = insertelement <16 x i32> poison, i32 %v48, i64 0
  %v94 = shufflevector <16 x i32> %v93, <16 x i32> poison, <16 x i32> zeroinitializer
  %v95 = bitcast <16 x i32> %v94 to <64 x i8>
  %v96 = bitcast <16 x i32> %v59 to <64 x i8>
  %v97 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v92, <64 x i8> %v95, <64 x i8> %v96)
  store <16 x i32> %v97, ptr %a22
  %v98 = load <16 x i32>, ptr %a30
  %v99 = bitcast <16 x i32> %v94 to <64 x i8>
  %v100 = bitcast <16 x i32> %v61 to <64 x i8>
  %v101 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v98, <64 x i8> %v99, <64 x i8> %v100)
  store <16 x i32> %v101, ptr %a30
  %v102 = load <16 x i32>, ptr %a23
  %v103 = insertelement <16 x i32> poison, i32 %v50, i64 0
  %v104 = shufflevector <16 x i32> %v103, <16 x i32> poison, <16 x i32> zeroinitializer
  %v105 = bitcast <16 x i32> %v104 to <64 x i8>
  %v106 = bitcast <16 x i32> %v59 to <64 x i8>
  %v107 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v102, <64 x i8> %v105, <64 x i8> %v106)
  store <16 x i32> %v107, ptr %a23
  %v108 = load <16 x i32>, ptr %a31
  %v109 = bitcast <16 x i32> %v104 to <64 x i8>
  %v110 = bitcast <16 x i32> %v61 to <64 x i8>
  %v111 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v108, <64 x i8> %v109, <64 x i8> %v110)
  store <16 x i32> %v111, ptr %a31
  %v112 = load <16 x i32>, ptr %a24
  %v113 = insertelement <16 x i32> poison, i32 %v52, i64 0
  %v114 = shufflevector <16 x i32> %v113, <16 x i32> poison, <16 x i32> zeroinitializer
  %v115 = bitcast <16 x i32> %v114 to <64 x i8>
  %v116 = bitcast <16 x i32> %v59 to <64 x i8>
  %v117 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v112, <64 x i8> %v115, <64 x i8> %v116)
  store <16 x i32> %v117, ptr %a24
  %v118 = load <16 x i32>, ptr %a32
  %v119 = bitcast <16 x i32> %v114 to <64 x i8>
  %v120 = bitcast <16 x i32> %v61 to <64 x i8>
  %v121 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v118, <64 x i8> %v119, <64 x i8> %v120)
  store <16 x i32> %v121, ptr %a32
  %v122 = load <16 x i32>, ptr %a25
  %v123 = insertelement <16 x i32> poison, i32 %v54, i64 0
  %v124 = shufflevector <16 x i32> %v123, <16 x i32> poison, <16 x i32> zeroinitializer
  %v125 = bitcast <16 x i32> %v124 to <64 x i8>
  %v126 = bitcast <16 x i32> %v59 to <64 x i8>
  %v127 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v122, <64 x i8> %v125, <64 x i8> %v126)
  store <16 x i32> %v127, ptr %a25
  %v128 = load <16 x i32>, ptr %a33
  %v129 = bitcast <16 x i32> %v124 to <64 x i8>
  %v130 = bitcast <16 x i32> %v61 to <64 x i8>
  %v131 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v128, <64 x i8> %v129, <64 x i8> %v130)
  store <16 x i32> %v131, ptr %a33
  %v132 = load <16 x i32>, ptr %a26
  %v133 = insertelement <16 x i32> poison, i32 %v56, i64 0
  %v134 = shufflevector <16 x i32> %v133, <16 x i32> poison, <16 x i32> zeroinitializer
  %v135 = bitcast <16 x i32> %v134 to <64 x i8>
  %v136 = bitcast <16 x i32> %v59 to <64 x i8>
  %v137 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v132, <64 x i8> %v135, <64 x i8> %v136)
  store <16 x i32> %v137, ptr %a26
  %v138 = load <16 x i32>, ptr %a34
  %v139 = bitcast <16 x i32> %v134 to <64 x i8>
  %v140 = bitcast <16 x i32> %v61 to <64 x i8>
  %v141 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v138, <64 x i8> %v139, <64 x i8> %v140)
  store <16 x i32> %v141, ptr %a34
  %v38 = add nuw nsw i64 %v37, 1
  %v142 = icmp slt i64 %v38, 8
  br i1 %v142, label %b35, label %b36
b36:
  %v143 = load <16 x i32>, ptr %a19
  %v144 = load <16 x i32>, ptr %a20
  %v145 = load <16 x i32>, ptr %a21
  %v146 = load <16 x i32>, ptr %a22
  %v147 = load <16 x i32>, ptr %a23
  %v148 = load <16 x i32>, ptr %a24
  %v149 = load <16 x i32>, ptr %a25
  %v150 = load <16 x i32>, ptr %a26
  %v151 = load <16 x i32>, ptr %a27
  %v152 = load <16 x i32>, ptr %a28
  %v153 = load <16 x i32>, ptr %a29
  %v154 = load <16 x i32>, ptr %a30
  %v155 = load <16 x i32>, ptr %a31
  %v156 = load <16 x i32>, ptr %a32
  %v157 = load <16 x i32>, ptr %a33
  %v158 = load <16 x i32>, ptr %a34
  %v159 = add <16 x i32> %v143, %v9
  %v160 = add <16 x i32> %v144, %v9
  %v161 = add <16 x i32> %v145, %v9
  %v162 = add <16 x i32> %v146, %v9
  %v163 = add <16 x i32> %v147, %v9
  %v164 = add <16 x i32> %v148, %v9
  %v165 = add <16 x i32> %v149, %v9
  %v166 = add <16 x i32> %v150, %v9
  %v167 = add <16 x i32> %v151, %v11
  %v168 = add <16 x i32> %v152, %v11
  %v169 = add <16 x i32> %v153, %v11
  %v170 = add <16 x i32> %v154, %v11
  %v171 = add <16 x i32> %v155, %v11
  %v172 = add <16 x i32> %v156, %v11
  %v173 = add <16 x i32> %v157, %v11
  %v174 = add <16 x i32> %v158, %v11
  %v175 = getelementptr i32, ptr %v2, i64 %v17
  store <16 x i32> %v159, ptr %v175, align 4
  %v176 = getelementptr i32, ptr %v175, i64 32
  store <16 x i32> %v160, ptr %v176, align 4
  %v177 = getelementptr i32, ptr %v175, i64 64
  store <16 x i32> %v161, ptr %v177, align 4
  %v178 = getelementptr i32, ptr %v175, i64 96
  store <16 x i32> %v162, ptr %v178, align 4
  %v179 = getelementptr i32, ptr %v175, i64 128
  store <16 x i32> %v163, ptr %v179, align 4
  %v180 = getelementptr i32, ptr %v175, i64 160
  store <16 x i32> %v164, ptr %v180, align 4
  %v181 = getelementptr i32, ptr %v175, i64 192
  store <16 x i32> %v165, ptr %v181, align 4
  %v182 = getelementptr i32, ptr %v175, i64 224
  store <16 x i32> %v166, ptr %v182, align 4
  %v183 = getelementptr i32, ptr %v175, i64 16
  store <16 x i32> %v167, ptr %v183, align 4
  %v184 = getelementptr i32, ptr %v175, i64 48
  store <16 x i32> %v168, ptr %v184, align 4
  %v185 = getelementptr i32, ptr %v175, i64 80
  store <16 x i32> %v169, ptr %v185, align 4
  %v186 = getelementptr i32, ptr %v175, i64 112
  store <16 x i32> %v170, ptr %v186, align 4
  %v187 = getelementptr i32, ptr %v175, i64 144
  store <16 x i32> %v171, ptr %v187, align 4
  %v188 = getelementptr i32, ptr %v175, i64 176
  store <16 x i32> %v172, ptr %v188, align 4
  %v189 = getelementptr i32, ptr %v175, i64 208
  store <16 x i32> %v173, ptr %v189, align 4
  %v190 = getelementptr i32, ptr %v175, i64 240
  store <16 x i32> %v174, ptr %v190, align 4
  %v16 = add nuw nsw i64 %v15, 1
  %v191 = icmp slt i64 %v16, %end
  br i1 %v191, label %b12, label %b13
b13:
  ret void
}
declare <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32>, <64 x i8>, <64 x i8>)
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
