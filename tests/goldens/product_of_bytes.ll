; product_parallel4_loop8_upcast2_lane16_upcast8
; axes: parallel 4, loop 8, upcast 2, lane 16, upcast 8
define void @"product_parallel4_loop8_upcast2_lane16_upcast8"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %a16 = alloca <16 x i32>, align 64
  %a17 = alloca <16 x i32>, align 64
  %a18 = alloca <16 x i32>, align 64
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
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr inbounds i64, ptr %arguments, i64 2
  %v6 = load ptr, ptr %v5
  %v7 = getelementptr inbounds i64, ptr %arguments, i64 3
  %v8 = load ptr, ptr %v7
  %v11 = icmp slt i64 %begin, %end
  br i1 %v11, label %b9, label %b10
b9:
  %v12 = phi i64 [ %begin, %entry ], [ %v13, %b33 ]
  %v14 = mul i64 %v12, 256
  %v15 = mul i64 %v12, 64
  store <16 x i32> splat (i32 0), ptr %a16
  store <16 x i32> splat (i32 0), ptr %a17
  store <16 x i32> splat (i32 0), ptr %a18
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
  br label %b32
b32:
  %v34 = phi i64 [ 0, %b9 ], [ %v35, %b32 ]
  %v36 = mul i64 %v34, 32
  %v37 = getelementptr i32, ptr %v4, i64 %v36
  %v38 = load <16 x i32>, ptr %v37, align 4
  %v39 = getelementptr i32, ptr %v37, i64 16
  %v40 = load <16 x i32>, ptr %v39, align 4
  %v41 = add i64 %v15, %v34
  %v42 = getelementptr i32, ptr %v6, i64 %v41
  %v43 = load i32, ptr %v42, align 4
  %v44 = getelementptr i32, ptr %v42, i64 8
  %v45 = load i32, ptr %v44, align 4
  %v46 = getelementptr i32, ptr %v42, i64 16
  %v47 = load i32, ptr %v46, align 4
  %v48 = getelementptr i32, ptr %v42, i64 24
  %v49 = load i32, ptr %v48, align 4
  %v50 = getelementptr i32, ptr %v42, i64 32
  %v51 = load i32, ptr %v50, align 4
  %v52 = getelementptr i32, ptr %v42, i64 40
  %v53 = load i32, ptr %v52, align 4
  %v54 = getelementptr i32, ptr %v42, i64 48
  %v55 = load i32, ptr %v54, align 4
  %v56 = getelementptr i32, ptr %v42, i64 56
  %v57 = load i32, ptr %v56, align 4
  %v58 = load <16 x i32>, ptr %a16
  %v59 = insertelement <16 x i32> poison, i32 %v43, i64 0
  %v60 = shufflevector <16 x i32> %v59, <16 x i32> poison, <16 x i32> zeroinitializer
  %v61 = bitcast <16 x i32> %v38 to <64 x i8>
  %v62 = bitcast <16 x i32> %v60 to <64 x i8>
  %v63 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v58, <64 x i8> %v61, <64 x i8> %v62)
  store <16 x i32> %v63, ptr %a16
  %v64 = load <16 x i32>, ptr %a24
  %v65 = bitcast <16 x i32> %v40 to <64 x i8>
  %v66 = bitcast <16 x i32> %v60 to <64 x i8>
  %v67 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v64, <64 x i8> %v65, <64 x i8> %v66)
  store <16 x i32> %v67, ptr %a24
  %v68 = load <16 x i32>, ptr %a17
  %v69 = insertelement <16 x i32> poison, i32 %v45, i64 0
  %v70 = shufflevector <16 x i32> %v69, <16 x i32> poison, <16 x i32> zeroinitializer
  %v71 = bitcast <16 x i32> %v38 to <64 x i8>
  %v72 = bitcast <16 x i32> %v70 to <64 x i8>
  %v73 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v68, <64 x i8> %v71, <64 x i8> %v72)
  store <16 x i32> %v73, ptr %a17
  %v74 = load <16 x i32>, ptr %a25
  %v75 = bitcast <16 x i32> %v40 to <64 x i8>
  %v76 = bitcast <16 x i32> %v70 to <64 x i8>
  %v77 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v74, <64 x i8> %v75, <64 x i8> %v76)
  store <16 x i32> %v77, ptr %a25
  %v78 = load <16 x i32>, ptr %a18
  %v79 = insertelement <16 x i32> poison, i32 %v47, i64 0
  %v80 = shufflevector <16 x i32> %v79, <16 x i32> poison, <16 x i32> zeroinitializer
  %v81 = bitcast <16 x i32> %v38 to <64 x i8>
  %v82 = bitcast <16 x i32> %v80 to <64 x i8>
  %v83 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v78, <64 x i8> %v81, <64 x i8> %v82)
  store <16 x i32> %v83, ptr %a18
  %v84 = load <16 x i32>, ptr %a26
  %v85 = bitcast <16 x i32> %v40 to <64 x i8>
  %v86 = bitcast <16 x i32> %v80 to <64 x i8>
  %v87 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v84, <64 x i8> %v85, <64 x i8> %v86)
  store <16 x i32> %v87, ptr %a26
  %v88 = load <16 x i32>, ptr %a19
  %v89 = insertelement <16 x i32> poison, i32 %v49, i64 0
  %v90 = shufflevector <16 x i32> %v89, <16 x i32> poison, <16 x i32> zeroinitializer
  %v91 = bitcast <16 x i32> %v38 to <64 x i8>
  %v92 = bitcast <16 x i32> %v90 to <64 x i8>
  %v93 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v88, <64 x i8> %v91, <64 x i8> %v92)
  store <16 x i32> %v93, ptr %a19
  %v94 = load <16 x i32>, ptr %a27
  %v95 = bitcast <16 x i32> %v40 to <64 x i8>
  %v96 = bitcast <16 x i32> %v90 to <64 x i8>
  %v97 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v94, <64 x i8> %v95, <64 x i8> %v96)
  store <16 x i32> %v97, ptr %a27
  %v98 = load <16 x i32>, ptr %a20
  %v99 = insertelement <16 x i32> poison, i32 %v51, i64 0
  %v100 = shufflevector <16 x i32> %v99, <16 x i32> poison, <16 x i32> zeroinitializer
  %v101 = bitcast <16 x i32> %v38 to <64 x i8>
  %v102 = bitcast <16 x i32> %v100 to <64 x i8>
  %v103 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v98, <64 x i8> %v101, <64 x i8> %v102)
  store <16 x i32> %v103, ptr %a20
  %v104 = load <16 x i32>, ptr %a28
  %v105 = bitcast <16 x i32> %v40 to <64 x i8>
  %v106 = bitcast <16 x i32> %v100 to <64 x i8>
  %v107 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v104, <64 x i8> %v105, <64 x i8> %v106)
  store <16 x i32> %v107, ptr %a28
  %v108 = load <16 x i32>, ptr %a21
  %v109 = insertelement <16 x i32> poison, i32 %v53, i64 0
  %v110 = shufflevector <16 x i32> %v109, <16 x i32> poison, <16 x i32> zeroinitializer
  %v111 = bitcast <16 x i32> %v38 to <64 x i8>
  %v112 = bitcast <16 x i32> %v110 to <64 x i8>
  %v113 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v108, <64 x i8> %v111, <64 x i8> %v112)
  store <16 x i32> %v113, ptr %a21
  %v114 = load <16 x i32>, ptr %a29
  %v115 = bitcast <16 x i32> %v40 to <64 x i8>
  %v116 = bitcast <16 x i32> %v110 to <64 x i8>
  %v117 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v114, <64 x i8> %v115, <64 x i8> %v116)
  store <16 x i32> %v117, ptr %a29
  %v118 = load <16 x i32>, ptr %a22
  %v119 = insertelement <16 x i32> poison, i32 %v55, i64 0
  %v120 = shufflevector <16 x i32> %v119, <16 x i32> poison, <16 x i32> zeroinitializer
  %v121 = bitcast <16 x i32> %v38 to <64 x i8>
  %v122 = bitcast <16 x i32> %v120 to <64 x i8>
  %v123 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v118, <64 x i8> %v121, <64 x i8> %v122)
  store <16 x i32> %v123, ptr %a22
  %v124 = load <16 x i32>, ptr %a30
  %v125 = bitcast <16 x i32> %v40 to <64 x i8>
  %v126 = bitcast <16 x i32> %v120 to <64 x i8>
  %v127 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v124, <64 x i8> %v125, <64 x i8> %v126)
  store <16 x i32> %v127, ptr %a30
  %v128 = load <16 x i32>, ptr %a23
  %v129 = insertelement <16 x i32> poison, i32 %v57, i64 0
  %v130 = shufflevector <16 x i32> %v129, <16 x i32> poison, <16 x i32> zeroinitializer
  %v131 = bitcast <16 x i32> %v38 to <64 x i8>
  %v132 = bitcast <16 x i32> %v130 to <64 x i8>
  %v133 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v128, <64 x i8> %v131, <64 x i8> %v132)
  store <16 x i32> %v133, ptr %a23
  %v134 = load <16 x i32>, ptr %a31
  %v135 = bitcast <16 x i32> %v40 to <64 x i8>
  %v136 = bitcast <16 x i32> %v130 to <64 x i8>
  %v137 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v134, <64 x i8> %v135, <64 x i8> %v136)
  store <16 x i32> %v137, ptr %a31
  %v35 = add nuw nsw i64 %v34, 1
  %v138 = icmp slt i64 %v35, 8
  br i1 %v138, label %b32, label %b33
b33:
  %v139 = load <16 x i32>, ptr %a16
  %v140 = load <16 x i32>, ptr %a17
  %v141 = load <16 x i32>, ptr %a18
  %v142 = load <16 x i32>, ptr %a19
  %v143 = load <16 x i32>, ptr %a20
  %v144 = load <16 x i32>, ptr %a21
  %v145 = load <16 x i32>, ptr %a22
  %v146 = load <16 x i32>, ptr %a23
  %v147 = load <16 x i32>, ptr %a24
  %v148 = load <16 x i32>, ptr %a25
  %v149 = load <16 x i32>, ptr %a26
  %v150 = load <16 x i32>, ptr %a27
  %v151 = load <16 x i32>, ptr %a28
  %v152 = load <16 x i32>, ptr %a29
  %v153 = load <16 x i32>, ptr %a30
  %v154 = load <16 x i32>, ptr %a31
  %v155 = mul i64 %v12, 8
  %v156 = getelementptr i32, ptr %v8, i64 %v155
  %v157 = load i32, ptr %v156, align 4
  %v158 = getelementptr i32, ptr %v156, i64 1
  %v159 = load i32, ptr %v158, align 4
  %v160 = getelementptr i32, ptr %v156, i64 2
  %v161 = load i32, ptr %v160, align 4
  %v162 = getelementptr i32, ptr %v156, i64 3
  %v163 = load i32, ptr %v162, align 4
  %v164 = getelementptr i32, ptr %v156, i64 4
  %v165 = load i32, ptr %v164, align 4
  %v166 = getelementptr i32, ptr %v156, i64 5
  %v167 = load i32, ptr %v166, align 4
  %v168 = getelementptr i32, ptr %v156, i64 6
  %v169 = load i32, ptr %v168, align 4
  %v170 = getelementptr i32, ptr %v156, i64 7
  %v171 = load i32, ptr %v170, align 4
  %v172 = insertelement <16 x i32> poison, i32 %v157, i64 0
  %v173 = shufflevector <16 x i32> %v172, <16 x i32> poison, <16 x i32> zeroinitializer
  %v174 = add <16 x i32> %v139, %v173
  %v175 = insertelement <16 x i32> poison, i32 %v159, i64 0
  %v176 = shufflevector <16 x i32> %v175, <16 x i32> poison, <16 x i32> zeroinitializer
  %v177 = add <16 x i32> %v140, %v176
  %v178 = insertelement <16 x i32> poison, i32 %v161, i64 0
  %v179 = shufflevector <16 x i32> %v178, <16 x i32> poison, <16 x i32> zeroinitializer
  %v180 = add <16 x i32> %v141, %v179
  %v181 = insertelement <16 x i32> poison, i32 %v163, i64 0
  %v182 = shufflevector <16 x i32> %v181, <16 x i32> poison, <16 x i32> zeroinitializer
  %v183 = add <16 x i32> %v142, %v182
  %v184 = insertelement <16 x i32> poison, i32 %v165, i64 0
  %v185 = shufflevector <16 x i32> %v184, <16 x i32> poison, <16 x i32> zeroinitializer
  %v186 = add <16 x i32> %v143, %v185
  %v187 = insertelement <16 x i32> poison, i32 %v167, i64 0
  %v188 = shufflevector <16 x i32> %v187, <16 x i32> poison, <16 x i32> zeroinitializer
  %v189 = add <16 x i32> %v144, %v188
  %v190 = insertelement <16 x i32> poison, i32 %v169, i64 0
  %v191 = shufflevector <16 x i32> %v190, <16 x i32> poison, <16 x i32> zeroinitializer
  %v192 = add <16 x i32> %v145, %v191
  %v193 = insertelement <16 x i32> poison, i32 %v171, i64 0
  %v194 = shufflevector <16 x i32> %v193, <16 x i32> poison, <16 x i32> zeroinitializer
  %v195 = add <16 x i32> %v146, %v194
  %v196 = add <16 x i32> %v147, %v173
  %v197 = add <16 x i32> %v148, %v176
  %v198 = add <16 x i32> %v149, %v179
  %v199 = add <16 x i32> %v150, %v182
  %v200 = add <16 x i32> %v151, %v185
  %v201 = add <16 x i32> %v152, %v188
  %v202 = add <16 x i32> %v153, %v191
  %v203 = add <16 x i32> %v154, %v194
  %v204 = getelementptr i32, ptr %v2, i64 %v14
  store <16 x i32> %v174, ptr %v204, align 4
  %v205 = getelementptr i32, ptr %v204, i64 32
  store <16 x i32> %v177, ptr %v205, align 4
  %v206 = getelementptr i32, ptr %v204, i64 64
  store <16 x i32> %v180, ptr %v206, align 4
  %v207 = getelementptr i32, ptr %v204, i64 96
  store <16 x i32> %v183, ptr %v207, align 4
  %v208 = getelementptr i32, ptr %v204, i64 128
  store <16 x i32> %v186, ptr %v208, align 4
  %v209 = getelementptr i32, ptr %v204, i64 160
  store <16 x i32> %v189, ptr %v209, align 4
  %v210 = getelementptr i32, ptr %v204, i64 192
  store <16 x i32> %v192, ptr %v210, align 4
  %v211 = getelementptr i32, ptr %v204, i64 224
  store <16 x i32> %v195, ptr %v211, align 4
  %v212 = getelementptr i32, ptr %v204, i64 16
  store <16 x i32> %v196, ptr %v212, align 4
  %v213 = getelementptr i32, ptr %v204, i64 48
  store <16 x i32> %v197, ptr %v213, align 4
  %v214 = getelementptr i32, ptr %v204, i64 80
  store <16 x i32> %v198, ptr %v214, align 4
  %v215 = getelementptr i32, ptr %v204, i64 112
  store <16 x i32> %v199, ptr %v215, align 4
  %v216 = getelementptr i32, ptr %v204, i64 144
  store <16 x i32> %v200, ptr %v216, align 4
  %v217 = getelementptr i32, ptr %v204, i64 176
  store <16 x i32> %v201, ptr %v217, align 4
  %v218 = getelementptr i32, ptr %v204, i64 208
  store <16 x i32> %v202, ptr %v218, align 4
  %v219 = getelementptr i32, ptr %v204, i64 240
  store <16 x i32> %v203, ptr %v219, align 4
  %v13 = add nuw nsw i64 %v12, 1
  %v220 = icmp slt i64 %v13, %end
  br i1 %v220, label %b9, label %b10
b10:
  ret void
}
declare <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32>, <64 x i8>, <64 x i8>)
attributes #0 = { nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512" }
