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
  %v11 = mul i64 0, 16
  %v12 = mul i64 1, 16
  %v13 = mul i64 2, 16
  %v14 = mul i64 3, 16
  %v15 = mul i64 0, -16
  %v16 = mul i64 1, -16
  %v17 = mul i64 2, -16
  %v18 = mul i64 3, -16
  %v19 = udiv i64 %v8, 64
  %v20 = icmp slt i64 %end, %v19
  %v21 = select i1 %v20, i64 %end, i64 %v19
  %v22 = icmp sgt i64 %begin, %v19
  %v23 = select i1 %v22, i64 %begin, i64 %v19
  %v26 = icmp slt i64 %begin, %v21
  br i1 %v26, label %b24, label %b25
b24:
  %v27 = phi i64 [ %begin, %entry ], [ %v28, %b84 ]
  %v29 = mul i64 %v27, 64
  %v30 = add i64 %v29, %v11
  %v31 = add i64 %v29, %v12
  %v32 = add i64 %v29, %v13
  %v33 = add i64 %v29, %v14
  %v34 = mul i64 %v27, -64
  %v35 = add i64 %v34, %v15
  %v36 = add i64 %v34, %v16
  %v37 = add i64 %v34, %v17
  %v38 = add i64 %v34, %v18
  %v39 = add i64 %v35, %v8
  %v40 = add i64 %v36, %v8
  %v41 = add i64 %v37, %v8
  %v42 = add i64 %v38, %v8
  %v43 = getelementptr i32, ptr %v4, i64 %v30
  %v44 = load <16 x i32>, ptr %v43, align 4
  %v45 = getelementptr i32, ptr %v4, i64 %v31
  %v46 = load <16 x i32>, ptr %v45, align 4
  %v47 = getelementptr i32, ptr %v4, i64 %v32
  %v48 = load <16 x i32>, ptr %v47, align 4
  %v49 = getelementptr i32, ptr %v4, i64 %v33
  %v50 = load <16 x i32>, ptr %v49, align 4
  %v51 = getelementptr i32, ptr %v6, i64 %v30
  %v52 = load <16 x i32>, ptr %v51, align 4
  %v53 = getelementptr i32, ptr %v6, i64 %v31
  %v54 = load <16 x i32>, ptr %v53, align 4
  %v55 = getelementptr i32, ptr %v6, i64 %v32
  %v56 = load <16 x i32>, ptr %v55, align 4
  %v57 = getelementptr i32, ptr %v6, i64 %v33
  %v58 = load <16 x i32>, ptr %v57, align 4
  %v59 = icmp ne <16 x i32> %v52, splat (i32 0)
  %v60 = icmp ne <16 x i32> %v54, splat (i32 0)
  %v61 = icmp ne <16 x i32> %v56, splat (i32 0)
  %v62 = icmp ne <16 x i32> %v58, splat (i32 0)
  %v63 = xor <16 x i1> %v59, splat (i1 true)
  %v64 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v63)
  br i1 %v64, label %b65, label %b66
b65:
  %v67 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b66
b66:
  %v68 = select <16 x i1> %v59, <16 x i32> %v52, <16 x i32> splat (i32 1)
  %v69 = xor <16 x i1> %v60, splat (i1 true)
  %v70 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v69)
  br i1 %v70, label %b71, label %b72
b71:
  %v73 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b72
b72:
  %v74 = select <16 x i1> %v60, <16 x i32> %v54, <16 x i32> splat (i32 1)
  %v75 = xor <16 x i1> %v61, splat (i1 true)
  %v76 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v75)
  br i1 %v76, label %b77, label %b78
b77:
  %v79 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b78
b78:
  %v80 = select <16 x i1> %v61, <16 x i32> %v56, <16 x i32> splat (i32 1)
  %v81 = xor <16 x i1> %v62, splat (i1 true)
  %v82 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v81)
  br i1 %v82, label %b83, label %b84
b83:
  %v85 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b84
b84:
  %v86 = select <16 x i1> %v62, <16 x i32> %v58, <16 x i32> splat (i32 1)
  %v87 = icmp eq <16 x i32> %v68, splat (i32 -1)
  %v88 = select <16 x i1> %v87, <16 x i32> splat (i32 1), <16 x i32> %v68
  %v89 = srem <16 x i32> %v44, %v88
  %v90 = icmp ne <16 x i32> %v89, splat (i32 0)
  %v91 = xor <16 x i32> %v89, %v88
  %v92 = icmp slt <16 x i32> %v91, splat (i32 0)
  %v93 = and <16 x i1> %v90, %v92
  %v94 = sdiv <16 x i32> %v44, %v88
  %v95 = sub <16 x i32> %v94, splat (i32 1)
  %v96 = select <16 x i1> %v93, <16 x i32> %v95, <16 x i32> %v94
  %v97 = sub <16 x i32> splat (i32 0), %v44
  %v98 = select <16 x i1> %v87, <16 x i32> %v97, <16 x i32> %v96
  %v99 = icmp eq <16 x i32> %v74, splat (i32 -1)
  %v100 = select <16 x i1> %v99, <16 x i32> splat (i32 1), <16 x i32> %v74
  %v101 = srem <16 x i32> %v46, %v100
  %v102 = icmp ne <16 x i32> %v101, splat (i32 0)
  %v103 = xor <16 x i32> %v101, %v100
  %v104 = icmp slt <16 x i32> %v103, splat (i32 0)
  %v105 = and <16 x i1> %v102, %v104
  %v106 = sdiv <16 x i32> %v46, %v100
  %v107 = sub <16 x i32> %v106, splat (i32 1)
  %v108 = select <16 x i1> %v105, <16 x i32> %v107, <16 x i32> %v106
  %v109 = sub <16 x i32> splat (i32 0), %v46
  %v110 = select <16 x i1> %v99, <16 x i32> %v109, <16 x i32> %v108
  %v111 = icmp eq <16 x i32> %v80, splat (i32 -1)
  %v112 = select <16 x i1> %v111, <16 x i32> splat (i32 1), <16 x i32> %v80
  %v113 = srem <16 x i32> %v48, %v112
  %v114 = icmp ne <16 x i32> %v113, splat (i32 0)
  %v115 = xor <16 x i32> %v113, %v112
  %v116 = icmp slt <16 x i32> %v115, splat (i32 0)
  %v117 = and <16 x i1> %v114, %v116
  %v118 = sdiv <16 x i32> %v48, %v112
  %v119 = sub <16 x i32> %v118, splat (i32 1)
  %v120 = select <16 x i1> %v117, <16 x i32> %v119, <16 x i32> %v118
  %v121 = sub <16 x i32> splat (i32 0), %v48
  %v122 = select <16 x i1> %v111, <16 x i32> %v121, <16 x i32> %v120
  %v123 = icmp eq <16 x i32> %v86, splat (i32 -1)
  %v124 = select <16 x i1> %v123, <16 x i32> splat (i32 1), <16 x i32> %v86
  %v125 = srem <16 x i32> %v50, %v124
  %v126 = icmp ne <16 x i32> %v125, splat (i32 0)
  %v127 = xor <16 x i32> %v125, %v124
  %v128 = icmp slt <16 x i32> %v127, splat (i32 0)
  %v129 = and <16 x i1> %v126, %v128
  %v130 = sdiv <16 x i32> %v50, %v124
  %v131 = sub <16 x i32> %v130, splat (i32 1)
  %v132 = select <16 x i1> %v129, <16 x i32> %v131, <16 x i32> %v130
  %v133 = sub <16 x i32> splat (i32 0), %v50
  %v134 = select <16 x i1> %v123, <16 x i32> %v133, <16 x i32> %v132
  %v135 = getelementptr i32, ptr %v2, i64 %v30
  store <16 x i32> %v98, ptr %v135, align 4
  %v136 = getelementptr i32, ptr %v2, i64 %v31
  store <16 x i32> %v110, ptr %v136, align 4
  %v137 = getelementptr i32, ptr %v2, i64 %v32
  store <16 x i32> %v122, ptr %v137, align 4
  %v138 = getelementptr i32, ptr %v2, i64 %v33
  store <16 x i32> %v134, ptr %v138, align 4
  %v28 = add nuw nsw i64 %v27, 1
  %v139 = icmp slt i64 %v28, %v21
  br i1 %v139, label %b24, label %b25
b25:
  %v142 = icmp slt i64 %v23, %end
  br i1 %v142, label %b140, label %b141
b140:
  %v143 = phi i64 [ %v23, %b25 ], [ %v144, %b236 ]
  %v145 = mul i64 %v143, 64
  %v146 = add i64 %v145, %v11
  %v147 = add i64 %v145, %v12
  %v148 = add i64 %v145, %v13
  %v149 = add i64 %v145, %v14
  %v150 = mul i64 %v143, -64
  %v151 = add i64 %v150, %v15
  %v152 = add i64 %v150, %v16
  %v153 = add i64 %v150, %v17
  %v154 = add i64 %v150, %v18
  %v155 = add i64 %v151, %v8
  %v156 = add i64 %v152, %v8
  %v157 = add i64 %v153, %v8
  %v158 = add i64 %v154, %v8
  %v159 = icmp slt i64 %v155, 16
  %v160 = select i1 %v159, i64 %v155, i64 16
  %v161 = icmp sgt i64 %v160, 0
  %v162 = select i1 %v161, i64 %v160, i64 0
  %v163 = trunc i64 %v162 to i32
  %v164 = insertelement <16 x i32> poison, i32 %v163, i64 0
  %v165 = shufflevector <16 x i32> %v164, <16 x i32> poison, <16 x i32> zeroinitializer
  %v166 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v165
  %v167 = icmp slt i64 %v156, 16
  %v168 = select i1 %v167, i64 %v156, i64 16
  %v169 = icmp sgt i64 %v168, 0
  %v170 = select i1 %v169, i64 %v168, i64 0
  %v171 = trunc i64 %v170 to i32
  %v172 = insertelement <16 x i32> poison, i32 %v171, i64 0
  %v173 = shufflevector <16 x i32> %v172, <16 x i32> poison, <16 x i32> zeroinitializer
  %v174 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v173
  %v175 = icmp slt i64 %v157, 16
  %v176 = select i1 %v175, i64 %v157, i64 16
  %v177 = icmp sgt i64 %v176, 0
  %v178 = select i1 %v177, i64 %v176, i64 0
  %v179 = trunc i64 %v178 to i32
  %v180 = insertelement <16 x i32> poison, i32 %v179, i64 0
  %v181 = shufflevector <16 x i32> %v180, <16 x i32> poison, <16 x i32> zeroinitializer
  %v182 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v181
  %v183 = icmp slt i64 %v158, 16
  %v184 = select i1 %v183, i64 %v158, i64 16
  %v185 = icmp sgt i64 %v184, 0
  %v186 = select i1 %v185, i64 %v184, i64 0
  %v187 = trunc i64 %v186 to i32
  %v188 = insertelement <16 x i32> poison, i32 %v187, i64 0
  %v189 = shufflevector <16 x i32> %v188, <16 x i32> poison, <16 x i32> zeroinitializer
  %v190 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v189
  %v191 = getelementptr i32, ptr %v4, i64 %v146
  %v192 = load <16 x i32>, ptr %v191, align 4
  %v193 = getelementptr i32, ptr %v4, i64 %v147
  %v194 = load <16 x i32>, ptr %v193, align 4
  %v195 = getelementptr i32, ptr %v4, i64 %v148
  %v196 = load <16 x i32>, ptr %v195, align 4
  %v197 = getelementptr i32, ptr %v4, i64 %v149
  %v198 = load <16 x i32>, ptr %v197, align 4
  %v199 = getelementptr i32, ptr %v6, i64 %v146
  %v200 = load <16 x i32>, ptr %v199, align 4
  %v201 = getelementptr i32, ptr %v6, i64 %v147
  %v202 = load <16 x i32>, ptr %v201, align 4
  %v203 = getelementptr i32, ptr %v6, i64 %v148
  %v204 = load <16 x i32>, ptr %v203, align 4
  %v205 = getelementptr i32, ptr %v6, i64 %v149
  %v206 = load <16 x i32>, ptr %v205, align 4
  %v207 = icmp ne <16 x i32> %v200, splat (i32 0)
  %v208 = icmp ne <16 x i32> %v202, splat (i32 0)
  %v209 = icmp ne <16 x i32> %v204, splat (i32 0)
  %v210 = icmp ne <16 x i32> %v206, splat (i32 0)
  %v211 = xor <16 x i1> %v207, splat (i1 true)
  %v212 = and <16 x i1> %v211, %v166
  %v213 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v212)
  br i1 %v213, label %b214, label %b215
b214:
  %v216 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b215
b215:
  %v217 = select <16 x i1> %v207, <16 x i32> %v200, <16 x i32> splat (i32 1)
  %v218 = xor <16 x i1> %v208, splat (i1 true)
  %v219 = and <16 x i1> %v218, %v174
  %v220 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v219)
  br i1 %v220, label %b221, label %b222
b221:
  %v223 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b222
b222:
  %v224 = select <16 x i1> %v208, <16 x i32> %v202, <16 x i32> splat (i32 1)
  %v225 = xor <16 x i1> %v209, splat (i1 true)
  %v226 = and <16 x i1> %v225, %v182
  %v227 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v226)
  br i1 %v227, label %b228, label %b229
b228:
  %v230 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b229
b229:
  %v231 = select <16 x i1> %v209, <16 x i32> %v204, <16 x i32> splat (i32 1)
  %v232 = xor <16 x i1> %v210, splat (i1 true)
  %v233 = and <16 x i1> %v232, %v190
  %v234 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %v233)
  br i1 %v234, label %b235, label %b236
b235:
  %v237 = atomicrmw umin ptr %fault, i64 0 monotonic
  br label %b236
b236:
  %v238 = select <16 x i1> %v210, <16 x i32> %v206, <16 x i32> splat (i32 1)
  %v239 = icmp eq <16 x i32> %v217, splat (i32 -1)
  %v240 = select <16 x i1> %v239, <16 x i32> splat (i32 1), <16 x i32> %v217
  %v241 = srem <16 x i32> %v192, %v240
  %v242 = icmp ne <16 x i32> %v241, splat (i32 0)
  %v243 = xor <16 x i32> %v241, %v240
  %v244 = icmp slt <16 x i32> %v243, splat (i32 0)
  %v245 = and <16 x i1> %v242, %v244
  %v246 = sdiv <16 x i32> %v192, %v240
  %v247 = sub <16 x i32> %v246, splat (i32 1)
  %v248 = select <16 x i1> %v245, <16 x i32> %v247, <16 x i32> %v246
  %v249 = sub <16 x i32> splat (i32 0), %v192
  %v250 = select <16 x i1> %v239, <16 x i32> %v249, <16 x i32> %v248
  %v251 = icmp eq <16 x i32> %v224, splat (i32 -1)
  %v252 = select <16 x i1> %v251, <16 x i32> splat (i32 1), <16 x i32> %v224
  %v253 = srem <16 x i32> %v194, %v252
  %v254 = icmp ne <16 x i32> %v253, splat (i32 0)
  %v255 = xor <16 x i32> %v253, %v252
  %v256 = icmp slt <16 x i32> %v255, splat (i32 0)
  %v257 = and <16 x i1> %v254, %v256
  %v258 = sdiv <16 x i32> %v194, %v252
  %v259 = sub <16 x i32> %v258, splat (i32 1)
  %v260 = select <16 x i1> %v257, <16 x i32> %v259, <16 x i32> %v258
  %v261 = sub <16 x i32> splat (i32 0), %v194
  %v262 = select <16 x i1> %v251, <16 x i32> %v261, <16 x i32> %v260
  %v263 = icmp eq <16 x i32> %v231, splat (i32 -1)
  %v264 = select <16 x i1> %v263, <16 x i32> splat (i32 1), <16 x i32> %v231
  %v265 = srem <16 x i32> %v196, %v264
  %v266 = icmp ne <16 x i32> %v265, splat (i32 0)
  %v267 = xor <16 x i32> %v265, %v264
  %v268 = icmp slt <16 x i32> %v267, splat (i32 0)
  %v269 = and <16 x i1> %v266, %v268
  %v270 = sdiv <16 x i32> %v196, %v264
  %v271 = sub <16 x i32> %v270, splat (i32 1)
  %v272 = select <16 x i1> %v269, <16 x i32> %v271, <16 x i32> %v270
  %v273 = sub <16 x i32> splat (i32 0), %v196
  %v274 = select <16 x i1> %v263, <16 x i32> %v273, <16 x i32> %v272
  %v275 = icmp eq <16 x i32> %v238, splat (i32 -1)
  %v276 = select <16 x i1> %v275, <16 x i32> splat (i32 1), <16 x i32> %v238
  %v277 = srem <16 x i32> %v198, %v276
  %v278 = icmp ne <16 x i32> %v277, splat (i32 0)
  %v279 = xor <16 x i32> %v277, %v276
  %v280 = icmp slt <16 x i32> %v279, splat (i32 0)
  %v281 = and <16 x i1> %v278, %v280
  %v282 = sdiv <16 x i32> %v198, %v276
  %v283 = sub <16 x i32> %v282, splat (i32 1)
  %v284 = select <16 x i1> %v281, <16 x i32> %v283, <16 x i32> %v282
  %v285 = sub <16 x i32> splat (i32 0), %v198
  %v286 = select <16 x i1> %v275, <16 x i32> %v285, <16 x i32> %v284
  %v287 = getelementptr i32, ptr %v2, i64 %v146
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %v250, ptr align 4 %v287, <16 x i1> %v166)
  %v288 = getelementptr i32, ptr %v2, i64 %v147
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %v262, ptr align 4 %v288, <16 x i1> %v174)
  %v289 = getelementptr i32, ptr %v2, i64 %v148
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %v274, ptr align 4 %v289, <16 x i1> %v182)
  %v290 = getelementptr i32, ptr %v2, i64 %v149
  call void @llvm.masked.store.v16i32.p0(<16 x i32> %v286, ptr align 4 %v290, <16 x i1> %v190)
  %v144 = add nuw nsw i64 %v143, 1
  %v291 = icmp slt i64 %v144, %end
  br i1 %v291, label %b140, label %b141
b141:
  ret void
}
declare i1 @llvm.vector.reduce.or.v16i1(<16 x i1>)
declare void @llvm.masked.store.v16i32.p0(<16 x i32>, ptr, <16 x i1>)
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
