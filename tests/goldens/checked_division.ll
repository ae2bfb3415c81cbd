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
  %v130 = phi i64 [ %v15, %b17 ], [ %v131, %b218 ]
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
  %v173 = getelementptr i32, ptr %v4, i64 %v132
  %v174 = load <16 x i32>, ptr %v173, align 4
  %v175 = getelementptr i32, ptr %v173, i64 16
  %v176 = load <16 x i32>, ptr %v175, align 4
  %v177 = getelementptr i32, ptr %v173, i64 32
  %v178 = load <16 x i32>, ptr %v177, align 4
  %v179 = getelementptr i32, ptr %v173, i64 48
  %v180 = load <16 x i32>, ptr %v179, align 4
  %v181 = getelementptr i32, ptr %v6, i64 %v132
  %v182 = load <16 x i32>, ptr %v181, align 4
  %v183 = getelementptr i32, ptr %v181, i64 16
  %v184 = load <16 x i32>, ptr %v183, align 4
  %v185 = getelementptr i32, ptr %v181, i64 32
  %v186 = load <16 x i32>, ptr %v185, align 4
  %v187 = getelementptr i32, ptr %v181, i64 48
  %v188 = load <16 x i32>, ptr %v187, align 4
  %v189 = icmp ne <16 x i32> %v182, splat (i32 0)
  %v190 = icmp ne <16 x i32> %v184, splat (i32 0)
  %v191 = icmp ne <16 x i32> %v186, splat (i32 0)
  %v192 = icmp ne <16 x i32> %v188, splat (i32 0)
  %v193 = xor <16 x i1> %v189, splat (i1 true)
  %v194 = and <16 x i1> %v193, %v148
  %v195 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v194)
  br i1 %v195, label %b196, label %b197
b196:
  %v198 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b197
b197:
  %v199 = select <16 x i1> %v189, <16 x i32> %v182, <16 x i32> splat (i32 1)
  %v200 = xor <16 x i1> %v190, splat (i1 true)
  %v201 = and <16 x i1> %v200, %v156
  %v202 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v201)
  br i1 %v202, label %b203, label %b204
b203:
  %v205 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b204
b204:
  %v206 = select <16 x i1> %v190, <16 x i32> %v184, <16 x i32> splat (i32 1)
  %v207 = xor <16 x i1> %v191, splat (i1 true)
  %v208 = and <16 x i1> %v207, %v164
  %v209 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v208)
  br i1 %v209, label %b210, label %b211
b210:
  %v212 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b211
b211:
  %v213 = select <16 x i1> %v191, <16 x i32> %v186, <16 x i32> splat (i32 1)
  %v214 = xor <16 x i1> %v192, splat (i1 true)
  %v215 = and <16 x i1> %v214, %v172
  %v216 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v215)
  br i1 %v216, label %b217, label %b218
b217:
  %v219 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b218
b218:
  %v220 = select <16 x i1> %v192, <16 x i32> %v188, <16 x i32> splat (i32 1)
  %v221 = icmp eq <16 x i32> %v199, splat (i32 -1)
  %v222 = select <16 x i1> %v221, <16 x i32> splat (i32 1), <16 x i32> %v199
  %v223 = srem <16 x i32> %v174, %v222
  %v224 = icmp ne <16 x i32> %v223, splat (i32 0)
  %v225 = xor <16 x i32> %v223, %v222
  %v226 = icmp slt <16 x i32> %v225, splat (i32 0)
  %v227 = and <16 x i1> %v224, %v226
  %v228 = sdiv <16 x i32> %v174, %v222
  %v229 = sub <16 x i32> %v228, splat (i32 1)
  %v230 = select <16 x i1> %v227, <16 x i32> %v229, <16 x i32> %v228
  %v231 = sub <16 x i32> splat (i32 0), %v174
  %v232 = select <16 x i1> %v221, <16 x i32> %v231, <16 x i32> %v230
  %v233 = icmp eq <16 x i32> %v206, splat (i32 -1)
  %v234 = select <16 x i1> %v233, <16 x i32> splat (i32 1), <16 x i32> %v206
  %v235 = srem <16 x i32> %v176, %v234
  %v236 = icmp ne <16 x i32> %v235, splat (i32 0)
  %v237 = xor <16 x i32> %v235, %v234
  %v238 = icmp slt <16 x i32> %v237, splat (i32 0)
  %v239 = and <16 x i1> %v236, %v238
  %v240 = sdiv <16 x i32> %v176, %v234
  %v241 = sub <16 x i32> %v240, splat (i32 1)
  %v242 = select <16 x i1> %v239, <16 x i32> %v241, <16 x i32> %v240
  %v243 = sub <16 x i32> splat (i32 0), %v176
  %v244 = select <16 x i1> %v233, <16 x i32> %v243, <16 x i32> %v242
  %v245 = icmp eq <16 x i32> %v213, splat (i32 -1)
  %v246 = select <16 x i1> %v245, <16 x i32> splat (i32 1), <16 x i32> %v213
  %v247 = srem <16 x i32> %v178, %v246
  %v248 = icmp ne <16 x i32> %v247, splat (i32 0)
  %v249 = xor <16 x i32> %v247, %v246
  %v250 = icmp slt <16 x i32> %v249, splat (i32 0)
  %v251 = and <16 x i1> %v248, %v250
  %v252 = sdiv <16 x i32> %v178, %v246
  %v253 = sub <16 x i32> %v252, splat (i32 1)
  %v254 = select <16 x i1> %v251, <16 x i32> %v253, <16 x i32> %v252
  %v255 = sub <16 x i32> splat (i32 0), %v178
  %v256 = select <16 x i1> %v245, <16 x i32> %v255, <16 x i32> %v254
  %v257 = icmp eq <16 x i32> %v220, splat (i32 -1)
  %v258 = select <16 x i1> %v257, <16 x i32> splat (i32 1), <16 x i32> %v220
  %v259 = srem <16 x i32> %v180, %v258
  %v260 = icmp ne <16 x i32> %v259, splat (i32 0)
  %v261 = xor <16 x i32> %v259, %v258
  %v262 = icmp slt <16 x i32> %v261, splat (i32 0)
  %v263 = and <16 x i1> %v260, %v262
  %v264 = sdiv <16 x i32> %v180, %v258
  %v265 = sub <16 x i32> %v264, splat (i32 1)
  %v266 = select <16 x i1> %v263, <16 x i32> %v265, <16 x i32> %v264
  %v267 = sub <16 x i32> splat (i32 0), %v180
  %v268 = select <16 x i1> %v257, <16 x i32> %v267, <16 x i32> %v266
  %v269 = getelementptr i32, ptr %v2, i64 %v132
  %v270 = call i64 asm "", "=r,0"(i64 1)
  %v271 = trunc i64 %v270 to i1
  %v272 = insertelement <16 x i1> poison, i1 %v271, i64 0
  %v273 = shufflevector <16 x i1> %v272, <16 x i1> poison, <16 x i32> zeroinitializer
  %v274 = and <16 x i1> %v148, %v273
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %v232, ptr align 4 %v269, <16 x i1> %v274)
  %v275 = getelementptr i32, ptr %v269, i64 16
  %v276 = and <16 x i1> %v156, %v273
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %v244, ptr align 4 %v275, <16 x i1> %v276)
  %v277 = getelementptr i32, ptr %v269, i64 32
  %v278 = and <16 x i1> %v164, %v273
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %v256, ptr align 4 %v277, <16 x i1> %v278)
  %v279 = getelementptr i32, ptr %v269, i64 48
  %v280 = and <16 x i1> %v172, %v273
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %v268, ptr align 4 %v279, <16 x i1> %v280)
  %v131 = add nuw nsw i64 %v130, 1
  %v281 = icmp slt i64 %v131, %end
  br i1 %v281, label %b127, label %b128
b128:
  ret void
}
declare i1 @llvm.vector.reduce.or.v16i1(<16 x i1>)
declare void @llvm.masked.store.v16i32.p0(<16 x i32>, ptr, <16 x i1>)
attributes #0 = { nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512" }
