; product_parallel4_loop8_upcast2_lane16_upcast8
; axes: parallel 4, loop 8, upcast 2, lane 16, upcast 8
define void @"product_parallel4_loop8_upcast2_lane16_upcast8"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %a48 = alloca <16 x i32>, align 64
  %a49 = alloca <16 x i32>, align 64
  %a50 = alloca <16 x i32>, align 64
  %a51 = alloca <16 x i32>, align 64
  %a52 = alloca <16 x i32>, align 64
  %a53 = alloca <16 x i32>, align 64
  %a54 = alloca <16 x i32>, align 64
  %a55 = alloca <16 x i32>, align 64
  %a56 = alloca <16 x i32>, align 64
  %a57 = alloca <16 x i32>, align 64
  %a58 = alloca <16 x i32>, align 64
  %a59 = alloca <16 x i32>, align 64
  %a60 = alloca <16 x i32>, align 64
  %a61 = alloca <16 x i32>, align 64
  %a62 = alloca <16 x i32>, align 64
  %a63 = alloca <16 x i32>, align 64
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr inbounds i64, ptr %arguments, i64 2
  %v6 = load ptr, ptr %v5
  %v7 = getelementptr inbounds i64, ptr %arguments, i64 3
  %v8 = load ptr, ptr %v7
  %v9 = mul i64 0, 16
  %v10 = mul i64 1, 16
  %v11 = mul i64 0, 32
  %v12 = mul i64 1, 32
  %v13 = mul i64 2, 32
  %v14 = mul i64 3, 32
  %v15 = mul i64 4, 32
  %v16 = mul i64 5, 32
  %v17 = mul i64 6, 32
  %v18 = mul i64 7, 32
  %v19 = getelementptr i32, ptr %v8, i64 %v9
  %v20 = load <16 x i32>, ptr %v19, align 4
  %v21 = getelementptr i32, ptr %v8, i64 %v10
  %v22 = load <16 x i32>, ptr %v21, align 4
  %v25 = icmp slt i64 %begin, %end
  br i1 %v25, label %b23, label %b24
b23:
  %v26 = phi i64 [ %begin, %entry ], [ %v27, %b65 ]
  %v28 = mul i64 %v26, 256
  %v29 = add i64 %v28, %v9
  %v30 = add i64 %v28, %v10
  %v31 = add i64 %v29, %v11
  %v32 = add i64 %v29, %v12
  %v33 = add i64 %v29, %v13
  %v34 = add i64 %v29, %v14
  %v35 = add i64 %v29, %v15
  %v36 = add i64 %v29, %v16
  %v37 = add i64 %v29, %v17
  %v38 = add i64 %v29, %v18
  %v39 = add i64 %v30, %v11
  %v40 = add i64 %v30, %v12
  %v41 = add i64 %v30, %v13
  %v42 = add i64 %v30, %v14
  %v43 = add i64 %v30, %v15
  %v44 = add i64 %v30, %v16
  %v45 = add i64 %v30, %v17
  %v46 = add i64 %v30, %v18
  %v47 = mul i64 %v26, 64
  store <16 x i32> splat (i32 0), ptr %a48
  store <16 x i32> splat (i32 0), ptr %a49
  store <16 x i32> splat (i32 0), ptr %a50
  store <16 x i32> splat (i32 0), ptr %a51
  store <16 x i32> splat (i32 0), ptr %a52
  store <16 x i32> splat (i32 0), ptr %a53
  store <16 x i32> splat (i32 0), ptr %a54
  store <16 x i32> splat (i32 0), ptr %a55
  store <16 x i32> splat (i32 0), ptr %a56
  store <16 x i32> splat (i32 0), ptr %a57
  store <16 x i32> splat (i32 0), ptr %a58
  store <16 x i32> splat (i32 0), ptr %a59
  store <16 x i32> splat (i32 0), ptr %a60
  store <16 x i32> splat (i32 0), ptr %a61
  store <16 x i32> splat (i32 0), ptr %a62
  store <16 x i32> splat (i32 0), ptr %a63
  br label %b64
b64:
  %v66 = phi i64 [ 0, %b23 ], [ %v67, %b64 ]
  %v68 = mul i64 %v66, 8
  %v69 = add i64 %v47, %v68
  %v70 = add i64 %v69, 0
  %v71 = add i64 %v69, 1
  %v72 = add i64 %v69, 2
  %v73 = add i64 %v69, 3
  %v74 = add i64 %v69, 4
  %v75 = add i64 %v69, 5
  %v76 = add i64 %v69, 6
  %v77 = add i64 %v69, 7
  %v78 = getelementptr i32, ptr %v4, i64 %v70
  %v79 = load i32, ptr %v78, align 4
  %v80 = getelementptr i32, ptr %v4, i64 %v71
  %v81 = load i32, ptr %v80, align 4
  %v82 = getelementptr i32, ptr %v4, i64 %v72
  %v83 = load i32, ptr %v82, align 4
  %v84 = getelementptr i32, ptr %v4, i64 %v73
  %v85 = load i32, ptr %v84, align 4
  %v86 = getelementptr i32, ptr %v4, i64 %v74
  %v87 = load i32, ptr %v86, align 4
  %v88 = getelementptr i32, ptr %v4, i64 %v75
  %v89 = load i32, ptr %v88, align 4
  %v90 = getelementptr i32, ptr %v4, i64 %v76
  %v91 = load i32, ptr %v90, align 4
  %v92 = getelementptr i32, ptr %v4, i64 %v77
  %v93 = load i32, ptr %v92, align 4
  %v94 = mul i64 %v66, 32
  %v95 = add i64 %v94, %v9
  %v96 = add i64 %v94, %v10
  %v97 = getelementptr i32, ptr %v6, i64 %v95
  %v98 = load <16 x i32>, ptr %v97, align 4
  %v99 = getelementptr i32, ptr %v6, i64 %v96
  %v100 = load <16 x i32>, ptr %v99, align 4
  %v101 = load <16 x i32>, ptr %a48
  %v102 = insertelement <16 x i32> poison, i32 %v79, i64 0
  %v103 = shufflevector <16 x i32> %v102, <16 x i32> poison, <16 x i32> zeroinitializer
  %v104 = bitcast <16 x i32> %v103 to <64 x i8>
  %v105 = bitcast <16 x i32> %v98 to <64 x i8>
  %v106 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v101, <64 x i8> %v104, <64 x i8> %v105)
  store <16 x i32> %v106, ptr %a48
  %v107 = load <16 x i32>, ptr %a56
  %v108 = bitcast <16 x i32> %v103 to <64 x i8>
  %v109 = bitcast <16 x i32> %v100 to <64 x i8>
  %v110 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v107, <64 x i8> %v108, <64 x i8> %v109)
  store <16 x i32> %v110, ptr %a56
  %v111 = load <16 x i32>, ptr %a49
  %v112 = insertelement <16 x i32> poison, i32 %v81, i64 0
  %v113 = shufflevector <16 x i32> %v112, <16 x i32> poison, <16 x i32> zeroinitializer
  %v114 = bitcast <16 x i32> %v113 to <64 x i8>
  %v115 = bitcast <16 x i32> %v98 to <64 x i8>
  %v116 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v111, <64 x i8> %v114, <64 x i8> %v115)
  store <16 x i32> %v116, ptr %a49
  %v117 = load <16 x i32>, ptr %a57
  %v118 = bitcast <16 x i32> %v113 to <64 x i8>
  %v119 = bitcast <16 x i32> %v100 to <64 x i8>
  %v120 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v117, <64 x i8> %v118, <64 x i8> %v119)
  store <16 x i32> %v120, ptr %a57
  %v121 = load <16 x i32>, ptr %a50
  %v122 = insertelement <16 x i32> poison, i32 %v83, i64 0
  %v123 = shufflevector <16 x i32> %v122, <16 x i32> poison, <16 x i32> zeroinitializer
  %v124 = bitcast <16 x i32> %v123 to <64 x i8>
  %v125 = bitcast <16 x i32> %v98 to <64 x i8>
  %v126 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v121, <64 x i8> %v124, <64 x i8> %v125)
  store <16 x i32> %v126, ptr %a50
  %v127 = load <16 x i32>, ptr %a58
  %v128 = bitcast <16 x i32> %v123 to <64 x i8>
  %v129 = bitcast <16 x i32> %v100 to <64 x i8>
  %v130 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v127, <64 x i8> %v128, <64 x i8> %v129)
  store <16 x i32> %v130, ptr %a58
  %v131 = load <16 x i32>, ptr %a51
  %v132 = insertelement <16 x i32> poison, i32 %v85, i64 0
  %v133 = shufflevector <16 x i32> %v132, <16 x i32> poison, <16 x i32> zeroinitializer
  %v134 = bitcast <16 x i32> %v133 to <64 x i8>
  %v135 = bitcast <16 x i32> %v98 to <64 x i8>
  %v136 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v131, <64 x i8> %v134, <64 x i8> %v135)
  store <16 x i32> %v136, ptr %a51
  %v137 = load <16 x i32>, ptr %a59
  %v138 = bitcast <16 x i32> %v133 to <64 x i8>
  %v139 = bitcast <16 x i32> %v100 to <64 x i8>
  %v140 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v137, <64 x i8> %v138, <64 x i8> %v139)
  store <16 x i32> %v140, ptr %a59
  %v141 = load <16 x i32>, ptr %a52
  %v142 = insertelement <16 x i32> poison, i32 %v87, i64 0
  %v143 = shufflevector <16 x i32> %v142, <16 x i32> poison, <16 x i32> zeroinitializer
  %v144 = bitcast <16 x i32> %v143 to <64 x i8>
  %v145 = bitcast <16 x i32> %v98 to <64 x i8>
  %v146 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v141, <64 x i8> %v144, <64 x i8> %v145)
  store <16 x i32> %v146, ptr %a52
  %v147 = load <16 x i32>, ptr %a60
  %v148 = bitcast <16 x i32> %v143 to <64 x i8>
  %v149 = bitcast <16 x i32> %v100 to <64 x i8>
  %v150 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v147, <64 x i8> %v148, <64 x i8> %v149)
  store <16 x i32> %v150, ptr %a60
  %v151 = load <16 x i32>, ptr %a53
  %v152 = insertelement <16 x i32> poison, i32 %v89, i64 0
  %v153 = shufflevector <16 x i32> %v152, <16 x i32> poison, <16 x i32> zeroinitializer
  %v154 = bitcast <16 x i32> %v153 to <64 x i8>
  %v155 = bitcast <16 x i32> %v98 to <64 x i8>
  %v156 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v151, <64 x i8> %v154, <64 x i8> %v155)
  store <16 x i32> %v156, ptr %a53
  %v157 = load <16 x i32>, ptr %a61
  %v158 = bitcast <16 x i32> %v153 to <64 x i8>
  %v159 = bitcast <16 x i32> %v100 to <64 x i8>
  %v160 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v157, <64 x i8> %v158, <64 x i8> %v159)
  store <16 x i32> %v160, ptr %a61
  %v161 = load <16 x i32>, ptr %a54
  %v162 = insertelement <16 x i32> poison, i32 %v91, i64 0
  %v163 = shufflevector <16 x i32> %v162, <16 x i32> poison, <16 x i32> zeroinitializer
  %v164 = bitcast <16 x i32> %v163 to <64 x i8>
  %v165 = bitcast <16 x i32> %v98 to <64 x i8>
  %v166 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v161, <64 x i8> %v164, <64 x i8> %v165)
  store <16 x i32> %v166, ptr %a54
  %v167 = load <16 x i32>, ptr %a62
  %v168 = bitcast <16 x i32> %v163 to <64 x i8>
  %v169 = bitcast <16 x i32> %v100 to <64 x i8>
  %v170 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v167, <64 x i8> %v168, <64 x i8> %v169)
  store <16 x i32> %v170, ptr %a62
  %v171 = load <16 x i32>, ptr %a55
  %v172 = insertelement <16 x i32> poison, i32 %v93, i64 0
  %v173 = shufflevector <16 x i32> %v172, <16 x i32> poison, <16 x i32> zeroinitializer
  %v174 = bitcast <16 x i32> %v173 to <64 x i8>
  %v175 = bitcast <16 x i32> %v98 to <64 x i8>
  %v176 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v171, <64 x i8> %v174, <64 x i8> %v175)
  store <16 x i32> %v176, ptr %a55
  %v177 = load <16 x i32>, ptr %a63
  %v178 = bitcast <16 x i32> %v173 to <64 x i8>
  %v179 = bitcast <16 x i32> %v100 to <64 x i8>
  %v180 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %v177, <64 x i8> %v178, <64 x i8> %v179)
  store <16 x i32> %v180, ptr %a63
  %v67 = add nuw nsw i64 %v66, 1
  %v181 = icmp slt i64 %v67, 8
  br i1 %v181, label %b64, label %b65
b65:
  %v182 = load <16 x i32>, ptr %a48
  %v183 = load <16 x i32>, ptr %a49
  %v184 = load <16 x i32>, ptr %a50
  %v185 = load <16 x i32>, ptr %a51
  %v186 = load <16 x i32>, ptr %a52
  %v187 = load <16 x i32>, ptr %a53
  %v188 = load <16 x i32>, ptr %a54
  %v189 = load <16 x i32>, ptr %a55
  %v190 = load <16 x i32>, ptr %a56
  %v191 = load <16 x i32>, ptr %a57
  %v192 = load <16 x i32>, ptr %a58
  %v193 = load <16 x i32>, ptr %a59
  %v194 = load <16 x i32>, ptr %a60
  %v195 = load <16 x i32>, ptr %a61
  %v196 = load <16 x i32>, ptr %a62
  %v197 = load <16 x i32>, ptr %a63
  %v198 = add <16 x i32> %v182, %v20
  %v199 = add <16 x i32> %v183, %v20
  %v200 = add <16 x i32> %v184, %v20
  %v201 = add <16 x i32> %v185, %v20
  %v202 = add <16 x i32> %v186, %v20
  %v203 = add <16 x i32> %v187, %v20
  %v204 = add <16 x i32> %v188, %v20
  %v205 = add <16 x i32> %v189, %v20
  %v206 = add <16 x i32> %v190, %v22
  %v207 = add <16 x i32> %v191, %v22
  %v208 = add <16 x i32> %v192, %v22
  %v209 = add <16 x i32> %v193, %v22
  %v210 = add <16 x i32> %v194, %v22
  %v211 = add <16 x i32> %v195, %v22
  %v212 = add <16 x i32> %v196, %v22
  %v213 = add <16 x i32> %v197, %v22
  %v214 = getelementptr i32, ptr %v2, i64 %v31
  store <16 x i32> %v198, ptr %v214, align 4
  %v215 = getelementptr i32, ptr %v2, i64 %v32
  store <16 x i32> %v199, ptr %v215, align 4
  %v216 = getelementptr i32, ptr %v2, i64 %v33
  store <16 x i32> %v200, ptr %v216, align 4
  %v217 = getelementptr i32, ptr %v2, i64 %v34
  store <16 x i32> %v201, ptr %v217, align 4
  %v218 = getelementptr i32, ptr %v2, i64 %v35
  store <16 x i32> %v202, ptr %v218, align 4
  %v219 = getelementptr i32, ptr %v2, i64 %v36
  store <16 x i32> %v203, ptr %v219, align 4
  %v220 = getelementptr i32, ptr %v2, i64 %v37
  store <16 x i32> %v204, ptr %v220, align 4
  %v221 = getelementptr i32, ptr %v2, i64 %v38
  store <16 x i32> %v205, ptr %v221, align 4
  %v222 = getelementptr i32, ptr %v2, i64 %v39
  store <16 x i32> %v206, ptr %v222, align 4
  %v223 = getelementptr i32, ptr %v2, i64 %v40
  store <16 x i32> %v207, ptr %v223, align 4
  %v224 = getelementptr i32, ptr %v2, i64 %v41
  store <16 x i32> %v208, ptr %v224, align 4
  %v225 = getelementptr i32, ptr %v2, i64 %v42
  store <16 x i32> %v209, ptr %v225, align 4
  %v226 = getelementptr i32, ptr %v2, i64 %v43
  store <16 x i32> %v210, ptr %v226, align 4
  %v227 = getelementptr i32, ptr %v2, i64 %v44
  store <16 x i32> %v211, ptr %v227, align 4
  %v228 = getelementptr i32, ptr %v2, i64 %v45
  store <16 x i32> %v212, ptr %v228, align 4
  %v229 = getelementptr i32, ptr %v2, i64 %v46
  store <16 x i32> %v213, ptr %v229, align 4
  %v27 = add nuw nsw i64 %v26, 1
  %v230 = icmp slt i64 %v27, %end
  br i1 %v230, label %b23, label %b24
b24:
  ret void
}
declare <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32>, <64 x i8>, <64 x i8>)
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
