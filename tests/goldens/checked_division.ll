; elementwise_parallelN_upcast4_lane16
; axes: parallel 17179869184, upcast 4, lane 16
define void @"elementwise_parallelN_upcast4_lane16"(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %v1 = getelementptr inbounds i64, ptr %arguments, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr inbounds i64, ptr %arguments, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr inbounds i64, ptr %arguments, i64 2
  %v6 = load ptr, ptr %v5
  %v7 = getelementptr inbounds i64, ptr %arguments, i64 3
  %v8 = load i64, ptr %v7
  %v9 = add i64 %v8, 63
  %v10 = udiv i64 %v9, 64
  %v11 = udiv i64 %v8, 64
  %v12 = icmp slt i64 %end, %v11
  %v13 = select i1 %v12, i64 %end, i64 %v11
  %v14 = icmp sgt i64 %begin, %v11
  %v15 = select i1 %v14, i64 %begin, i64 %v11
  %v18 = icmp slt i64 %begin, %v13
  br i1 %v18, label %b16, label %b17
b16:
  %v19 = phi i64 [ %begin, %entry ], [ %v20, %b71 ]
  %v21 = mul i64 %v19, 64
  %v22 = mul i64 %v19, -64
  %v23 = add i64 %v22, %v8
  %v24 = add i64 %v22, -16
  %v25 = add i64 %v24, %v8
  %v26 = add i64 %v22, -32
  %v27 = add i64 %v26, %v8
  %v28 = add i64 %v22, -48
  %v29 = add i64 %v28, %v8
  %v30 = getelementptr i32, ptr %v4, i64 %v21
  %v31 = load <16 x i32>, ptr %v30, align 4
  %v32 = getelementptr i32, ptr %v30, i64 16
  %v33 = load <16 x i32>, ptr %v32, align 4
  %v34 = getelementptr i32, ptr %v30, i64 32
  %v35 = load <16 x i32>, ptr %v34, align 4
  %v36 = getelementptr i32, ptr %v30, i64 48
  %v37 = load <16 x i32>, ptr %v36, align 4
  %v38 = getelementptr i32, ptr %v6, i64 %v21
  %v39 = load <16 x i32>, ptr %v38, align 4
  %v40 = getelementptr i32, ptr %v38, i64 16
  %v41 = load <16 x i32>, ptr %v40, align 4
  %v42 = getelementptr i32, ptr %v38, i64 32
  %v43 = load <16 x i32>, ptr %v42, align 4
  %v44 = getelementptr i32, ptr %v38, i64 48
  %v45 = load <16 x i32>, ptr %v44, align 4
  %v46 = icmp ne <16 x i32> %v39, splat (i32 0)
  %v47 = icmp ne <16 x i32> %v41, splat (i32 0)
  %v48 = icmp ne <16 x i32> %v43, splat (i32 0)
  %v49 = icmp ne <16 x i32> %v45, splat (i32 0)
  %v50 = xor <16 x i1> %v46, splat (i1 true)
  %v51 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v50)
  br i1 %v51, label %b52, label %b53
b52:
  %v54 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b53
b53:
  %v55 = select <16 x i1> %v46, <16 x i32> %v39, <16 x i32> splat (i32 1)
  %v56 = xor <16 x i1> %v47, splat (i1 true)
  %v57 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v56)
  br i1 %v57, label %b58, label %b59
b58:
  %v60 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b59
b59:
  %v61 = select <16 x i1> %v47, <16 x i32> %v41, <16 x i32> splat (i32 1)
  %v62 = xor <16 x i1> %v48, splat (i1 true)
  %v63 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v62)
  br i1 %v63, label %b64, label %b65
b64:
  %v66 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b65
b65:
  %v67 = select <16 x i1> %v48, <16 x i32> %v43, <16 x i32> splat (i32 1)
  %v68 = xor <16 x i1> %v49, splat (i1 true)
  %v69 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v68)
  br i1 %v69, label %b70, label %b71
b70:
  %v72 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b71
b71:
  %v73 = select <16 x i1> %v49, <16 x i32> %v45, <16 x i32> splat (i32 1)
  %v74 = icmp eq <16 x i32> %v55, splat (i32 -1)
  %v75 = select <16 x i1> %v74, <16 x i32> splat (i32 1), <16 x i32> %v55
  %v76 = srem <16 x i32> %v31, %v75
  %v77 = icmp ne <16 x i32> %v76, splat (i32 0)
  %v78 = xor <16 x i32> %v76, %v75
  %v79 = icmp slt <16 x i32> %v78, splat (i32 0)
  %v80 = and <16 x i1> %v77, %v79
  %v81 = sdiv <16 x i32> %v31, %v75
  %v82 = sub <16 x i32> %v81, splat (i32 1)
  %v83 = select <16 x i1> %v80, <16 x i32> %v82, <16 x i32> %v81
  %v84 = sub <16 x i32> splat (i32 0), %v31
  %v85 = select <16 x i1> %v74, <16 x i32> %v84, <16 x i32> %v83
  %v86 = icmp eq <16 x i32> %v61, splat (i32 -1)
  %v87 = select <16 x i1> %v86, <16 x i32> splat (i32 1), <16 x i32> %v61
  %v88 = srem <16 x i32> %v33, %v87
  %v89 = icmp ne <16 x i32> %v88, splat (i32 0)
  %v90 = xor <16 x i32> %v88, %v87
  %v91 = icmp slt <16 x i32> %v90, splat (i32 0)
  %v92 = and <16 x i1> %v89, %v91
  %v93 = sdiv <16 x i32> %v33, %v87
  %v94 = sub <16 x i32> %v93, splat (i32 1)
  %v95 = select <16 x i1> %v92, <16 x i32> %v94, <16 x i32> %v93
  %v96 = sub <16 x i32> splat (i32 0), %v33
  %v97 = select <16 x i1> %v86, <16 x i32> %v96, <16 x i32> %v95
  %v98 = icmp eq <16 x i32> %v67, splat (i32 -1)
  %v99 = select <16 x i1> %v98, <16 x i32> splat (i32 1), <16 x i32> %v67
  %v100 = srem <16 x i32> %v35, %v99
  %v101 = icmp ne <16 x i32> %v100, splat (i32 0)
  %v102 = xor <16 x i32> %v100, %v99
  %v103 = icmp slt <16 x i32> %v102, splat (i32 0)
  %v104 = and <16 x i1> %v101, %v103
  %v105 = sdiv <16 x i32> %v35, %v99
  %v106 = sub <16 x i32> %v105, splat (i32 1)
  %v107 = select <16 x i1> %v104, <16 x i32> %v106, <16 x i32> %v105
  %v108 = sub <16 x i32> splat (i32 0), %v35
  %v109 = select <16 x i1> %v98, <16 x i32> %v108, <16 x i32> %v107
  %v110 = icmp eq <16 x i32> %v73, splat (i32 -1)
  %v111 = select <16 x i1> %v110, <16 x i32> splat (i32 1), <16 x i32> %v73
  %v112 = srem <16 x i32> %v37, %v111
  %v113 = icmp ne <16 x i32> %v112, splat (i32 0)
  %v114 = xor <16 x i32> %v112, %v111
  %v115 = icmp slt <16 x i32> %v114, splat (i32 0)
  %v116 = and <16 x i1> %v113, %v115
  %v117 = sdiv <16 x i32> %v37, %v111
  %v118 = sub <16 x i32> %v117, splat (i32 1)
  %v119 = select <16 x i1> %v116, <16 x i32> %v118, <16 x i32> %v117
  %v120 = sub <16 x i32> splat (i32 0), %v37
  %v121 = select <16 x i1> %v110, <16 x i32> %v120, <16 x i32> %v119
  %v122 = getelementptr i32, ptr %v2, i64 %v21
  store <16 x i32> %v85, ptr %v122, align 4
  %v123 = getelementptr i32, ptr %v122, i64 16
  store <16 x i32> %v97, ptr %v123, align 4
  %v124 = getelementptr i32, ptr %v122, i64 32
  store <16 x i32> %v109, ptr %v124, align 4
  %v125 = getelementptr i32, ptr %v122, i64 48
  store <16 x i32> %v121, ptr %v125, align 4
  %v20 = add nuw nsw i64 %v19, 1
  %v126 = icmp slt i64 %v20, %v13
  br i1 %v126, label %b16, label %b17
b17:
  %v129 = icmp slt i64 %v15, %end
  br i1 %v129, label %b127, label %b128
b127:
  %v130 = phi i64 [ %v15, %b17 ], [ %v131, %b237 ]
  %v132 = mul i64 %v130, 64
  %v133 = mul i64 %v130, -64
  %v134 = add i64 %v133, %v8
  %v135 = add i64 %v133, -16
  %v136 = add i64 %v135, %v8
  %v137 = add i64 %v133, -32
  %v138 = add i64 %v137, %v8
  %v139 = add i64 %v133, -48
  %v140 = add i64 %v139, %v8
  %v141 = icmp slt i64 %v134, 16
  %v142 = select i1 %v141, i64 %v134, i64 16
  %v143 = icmp sgt i64 %v142, 0
  %v144 = select i1 %v143, i64 %v142, i64 0
  %v145 = trunc i64 %v144 to i32
  %v146 = insertelement <16 x i32> poison, i32 %v145, i64 0
  %v147 = shufflevector <16 x i32> %v146, <16 x i32> poison, <16 x i32> zeroinitializer
  %v148 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v147
  %v149 = icmp slt i64 %v136, 16
  %v150 = select i1 %v149, i64 %v136, i64 16
  %v151 = icmp sgt i64 %v150, 0
  %v152 = select i1 %v151, i64 %v150, i64 0
  %v153 = trunc i64 %v152 to i32
  %v154 = insertelement <16 x i32> poison, i32 %v153, i64 0
  %v155 = shufflevector <16 x i32> %v154, <16 x i32> poison, <16 x i32> zeroinitializer
  %v156 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v155
  %v157 = icmp slt i64 %v138, 16
  %v158 = select i1 %v157, i64 %v138, i64 16
  %v159 = icmp sgt i64 %v158, 0
  %v160 = select i1 %v159, i64 %v158, i64 0
  %v161 = trunc i64 %v160 to i32
  %v162 = insertelement <16 x i32> poison, i32 %v161, i64 0
  %v163 = shufflevector <16 x i32> %v162, <16 x i32> poison, <16 x i32> zeroinitializer
  %v164 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v163
  %v165 = icmp slt i64 %v140, 16
  %v166 = select i1 %v165, i64 %v140, i64 16
  %v167 = icmp sgt i64 %v166, 0
  %v168 = select i1 %v167, i64 %v166, i64 0
  %v169 = trunc i64 %v168 to i32
  %v170 = insertelement <16 x i32> poison, i32 %v169, i64 0
  %v171 = shufflevector <16 x i32> %v170, <16 x i32> poison, <16 x i32> zeroinitializer
  %v172 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v171
  %v173 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v148)
  %v174 = select i1 %v173, i64 %v132, i64 0
  %v175 = getelementptr i32, ptr %v4, i64 %v174
  %v176 = call <16 x i32> @llvm.masked.load.v16i32.p0(ptr align 4 %v175, <16 x i1> %v148, <16 x i32> zeroinitializer)
  %v177 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v156)
  %v178 = add i64 %v132, 16
  %v179 = select i1 %v177, i64 %v178, i64 0
  %v180 = getelementptr i32, ptr %v4, i64 %v179
  %v181 = call <16 x i32> @llvm.masked.load.v16i32.p0(ptr align 4 %v180, <16 x i1> %v156, <16 x i32> zeroinitializer)
  %v182 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v164)
  %v183 = add i64 %v132, 32
  %v184 = select i1 %v182, i64 %v183, i64 0
  %v185 = getelementptr i32, ptr %v4, i64 %v184
  %v186 = call <16 x i32> @llvm.masked.load.v16i32.p0(ptr align 4 %v185, <16 x i1> %v164, <16 x i32> zeroinitializer)
  %v187 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v172)
  %v188 = add i64 %v132, 48
  %v189 = select i1 %v187, i64 %v188, i64 0
  %v190 = getelementptr i32, ptr %v4, i64 %v189
  %v191 = call <16 x i32> @llvm.masked.load.v16i32.p0(ptr align 4 %v190, <16 x i1> %v172, <16 x i32> zeroinitializer)
  %v192 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v148)
  %v193 = select i1 %v192, i64 %v132, i64 0
  %v194 = getelementptr i32, ptr %v6, i64 %v193
  %v195 = call <16 x i32> @llvm.masked.load.v16i32.p0(ptr align 4 %v194, <16 x i1> %v148, <16 x i32> zeroinitializer)
  %v196 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v156)
  %v197 = select i1 %v196, i64 %v178, i64 0
  %v198 = getelementptr i32, ptr %v6, i64 %v197
  %v199 = call <16 x i32> @llvm.masked.load.v16i32.p0(ptr align 4 %v198, <16 x i1> %v156, <16 x i32> zeroinitializer)
  %v200 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v164)
  %v201 = select i1 %v200, i64 %v183, i64 0
  %v202 = getelementptr i32, ptr %v6, i64 %v201
  %v203 = call <16 x i32> @llvm.masked.load.v16i32.p0(ptr align 4 %v202, <16 x i1> %v164, <16 x i32> zeroinitializer)
  %v204 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v172)
  %v205 = select i1 %v204, i64 %v188, i64 0
  %v206 = getelementptr i32, ptr %v6, i64 %v205
  %v207 = call <16 x i32> @llvm.masked.load.v16i32.p0(ptr align 4 %v206, <16 x i1> %v172, <16 x i32> zeroinitializer)
  %v208 = icmp ne <16 x i32> %v195, splat (i32 0)
  %v209 = icmp ne <16 x i32> %v199, splat (i32 0)
  %v210 = icmp ne <16 x i32> %v203, splat (i32 0)
  %v211 = icmp ne <16 x i32> %v207, splat (i32 0)
  %v212 = xor <16 x i1> %v208, splat (i1 true)
  %v213 = and <16 x i1> %v212, %v148
  %v214 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v213)
  br i1 %v214, label %b215, label %b216
b215:
  %v217 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b216
b216:
  %v218 = select <16 x i1> %v208, <16 x i32> %v195, <16 x i32> splat (i32 1)
  %v219 = xor <16 x i1> %v209, splat (i1 true)
  %v220 = and <16 x i1> %v219, %v156
  %v221 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v220)
  br i1 %v221, label %b222, label %b223
b222:
  %v224 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b223
b223:
  %v225 = select <16 x i1> %v209, <16 x i32> %v199, <16 x i32> splat (i32 1)
  %v226 = xor <16 x i1> %v210, splat (i1 true)
  %v227 = and <16 x i1> %v226, %v164
  %v228 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v227)
  br i1 %v228, label %b229, label %b230
b229:
  %v231 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b230
b230:
  %v232 = select <16 x i1> %v210, <16 x i32> %v203, <16 x i32> splat (i32 1)
  %v233 = xor <16 x i1> %v211, splat (i1 true)
  %v234 = and <16 x i1> %v233, %v172
  %v235 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v234)
  br i1 %v235, label %b236, label %b237
b236:
  %v238 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b237
b237:
  %v239 = select <16 x i1> %v211, <16 x i32> %v207, <16 x i32> splat (i32 1)
  %v240 = icmp eq <16 x i32> %v218, splat (i32 -1)
  %v241 = select <16 x i1> %v240, <16 x i32> splat (i32 1), <16 x i32> %v218
  %v242 = srem <16 x i32> %v176, %v241
  %v243 = icmp ne <16 x i32> %v242, splat (i32 0)
  %v244 = xor <16 x i32> %v242, %v241
  %v245 = icmp slt <16 x i32> %v244, splat (i32 0)
  %v246 = and <16 x i1> %v243, %v245
  %v247 = sdiv <16 x i32> %v176, %v241
  %v248 = sub <16 x i32> %v247, splat (i32 1)
  %v249 = select <16 x i1> %v246, <16 x i32> %v248, <16 x i32> %v247
  %v250 = sub <16 x i32> splat (i32 0), %v176
  %v251 = select <16 x i1> %v240, <16 x i32> %v250, <16 x i32> %v249
  %v252 = icmp eq <16 x i32> %v225, splat (i32 -1)
  %v253 = select <16 x i1> %v252, <16 x i32> splat (i32 1), <16 x i32> %v225
  %v254 = srem <16 x i32> %v181, %v253
  %v255 = icmp ne <16 x i32> %v254, splat (i32 0)
  %v256 = xor <16 x i32> %v254, %v253
  %v257 = icmp slt <16 x i32> %v256, splat (i32 0)
  %v258 = and <16 x i1> %v255, %v257
  %v259 = sdiv <16 x i32> %v181, %v253
  %v260 = sub <16 x i32> %v259, splat (i32 1)
  %v261 = select <16 x i1> %v258, <16 x i32> %v260, <16 x i32> %v259
  %v262 = sub <16 x i32> splat (i32 0), %v181
  %v263 = select <16 x i1> %v252, <16 x i32> %v262, <16 x i32> %v261
  %v264 = icmp eq <16 x i32> %v232, splat (i32 -1)
  %v265 = select <16 x i1> %v264, <16 x i32> splat (i32 1), <16 x i32> %v232
  %v266 = srem <16 x i32> %v186, %v265
  %v267 = icmp ne <16 x i32> %v266, splat (i32 0)
  %v268 = xor <16 x i32> %v266, %v265
  %v269 = icmp slt <16 x i32> %v268, splat (i32 0)
  %v270 = and <16 x i1> %v267, %v269
  %v271 = sdiv <16 x i32> %v186, %v265
  %v272 = sub <16 x i32> %v271, splat (i32 1)
  %v273 = select <16 x i1> %v270, <16 x i32> %v272, <16 x i32> %v271
  %v274 = sub <16 x i32> splat (i32 0), %v186
  %v275 = select <16 x i1> %v264, <16 x i32> %v274, <16 x i32> %v273
  %v276 = icmp eq <16 x i32> %v239, splat (i32 -1)
  %v277 = select <16 x i1> %v276, <16 x i32> splat (i32 1), <16 x i32> %v239
  %v278 = srem <16 x i32> %v191, %v277
  %v279 = icmp ne <16 x i32> %v278, splat (i32 0)
  %v280 = xor <16 x i32> %v278, %v277
  %v281 = icmp slt <16 x i32> %v280, splat (i32 0)
  %v282 = and <16 x i1> %v279, %v281
  %v283 = sdiv <16 x i32> %v191, %v277
  %v284 = sub <16 x i32> %v283, splat (i32 1)
  %v285 = select <16 x i1> %v282, <16 x i32> %v284, <16 x i32> %v283
  %v286 = sub <16 x i32> splat (i32 0), %v191
  %v287 = select <16 x i1> %v276, <16 x i32> %v286, <16 x i32> %v285
  %v288 = getelementptr i32, ptr %v2, i64 %v132
  %v289 = call i64 asm "", "=r,0"(i64 0)
  %v290 = trunc i64 %v289 to i1
  %v291 = insertelement <16 x i1> poison, i1 %v290, i64 0
  %v292 = shufflevector <16 x i1> %v291, <16 x i1> poison, <16 x i32> zeroinitializer
  %v293 = xor <16 x i1> %v148, %v292
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %v251, ptr align 4 %v288, <16 x i1> %v293)
  %v294 = getelementptr i32, ptr %v288, i64 16
  %v295 = xor <16 x i1> %v156, %v292
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %v263, ptr align 4 %v294, <16 x i1> %v295)
  %v296 = getelementptr i32, ptr %v288, i64 32
  %v297 = xor <16 x i1> %v164, %v292
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %v275, ptr align 4 %v296, <16 x i1> %v297)
  %v298 = getelementptr i32, ptr %v288, i64 48
  %v299 = xor <16 x i1> %v172, %v292
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %v287, ptr align 4 %v298, <16 x i1> %v299)
  %v131 = add nuw nsw i64 %v130, 1
  %v300 = icmp slt i64 %v131, %end
  br i1 %v300, label %b127, label %b128
b128:
  ret void
}
declare <16 x i32> @llvm.masked.load.v16i32.p0(ptr, <16 x i1>, <16 x i32>)
declare i1 @llvm.vector.reduce.or.v16i1(<16 x i1>)
declare void @llvm.masked.store.v16i32.p0(<16 x i32>, ptr, <16 x i1>)
attributes #0 = { nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512" }
