// Highway's settings for the files of this folder; include it before any Highway header. The build sets the same ones
// (kernels/CMakeLists.txt); these lines serve whoever compiles a file by hand.
#ifndef RULERUN_KERNELS_INT8_SIMD_H_
#define RULERUN_KERNELS_INT8_SIMD_H_

#ifndef HWY_BROKEN_EMU128
#define HWY_BROKEN_EMU128 0
#endif
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL
#endif
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSE2 | HWY_SSSE3 | HWY_AVX3_ZEN4 | HWY_AVX3_SPR)
#endif

#endif  // RULERUN_KERNELS_INT8_SIMD_H_
