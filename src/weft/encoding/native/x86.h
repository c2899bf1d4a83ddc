/* What differs between the vector units of x86-64. Each includes kernels.h. */

#include <immintrin.h>

#define QUAD __m128
#define LOAD4(place) _mm_loadu_ps(place)
#define STORE4(place, numbers) _mm_storeu_ps(place, numbers)
#define TRANSPOSE4(a, b, c, d) _MM_TRANSPOSE4_PS(a, b, c, d)
#define AT_WORK(bytes) at_work(bytes)
/* Which of 32 activations are not zero, a bit for each. */
__attribute__((target("avx2"))) INLINE uint32_t at_work(const uint8_t *bytes) {
    __m256i some = _mm256_loadu_si256((const __m256i *)bytes);
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(some, _mm256_setzero_si256()));
}

INLINE float total_of_four(__m128 numbers) {
    numbers = _mm_add_ps(numbers, _mm_movehl_ps(numbers, numbers));
    return numbers[0] + numbers[1];
}

__attribute__((target("avx2"))) INLINE float total_of_eight(__m256 numbers) {
    return total_of_four(_mm_add_ps(_mm256_castps256_ps128(numbers), _mm256_extractf128_ps(numbers, 1)));
}

__attribute__((target("avx2"))) INLINE float largest_of_eight(__m256 numbers) {
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(numbers), _mm256_extractf128_ps(numbers, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return four[1] > four[0] ? four[1] : four[0];
}

INLINE int32_t four_bytes(const void *place) {
    int32_t bytes;
    memcpy(&bytes, place, sizeof bytes);
    return bytes;
}

/* AVX2 multiplies bytes, adds two products in 16 bits, and takes as long again to make 32 bits of such sums. So two of
   them are added in 16 bits before: `plan` chooses quads of inputs whose weights are small enough together. */
#define KIND avx2
#define TARGET __attribute__((target("avx2,bmi,popcnt")))
#define LANES 8
#define TILE 3
#define ACROSS 4
#define FORGET(place) __asm__("" : "+r"(place)) /* loading weights again for each row leaves registers for the sums */
#define BYTES __m256i
#define SUMS __m256i
#define SUMS_FROM(place) LOAD(place)
#define INTEGERS(sums) (sums)
#define LOAD(place) _mm256_loadu_si256((const __m256i *)(place))
#define SPREAD(place) _mm256_set1_epi32(four_bytes(place))
#define WIDER(pairs) _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))
#define DOT(sum, a, w) _mm256_add_epi32(sum, WIDER(_mm256_maddubs_epi16(a, w)))
#define DOT2(sum, a, w, a2, w2) \
    _mm256_add_epi32(sum, WIDER(_mm256_add_epi16(_mm256_maddubs_epi16(a, w), _mm256_maddubs_epi16(a2, w2))))
#define ROUND(numbers) _mm256_cvtps_epi32(numbers)
#define FLOATS(integers) _mm256_cvtepi32_ps(integers)
#define LARGER(a, b) _mm256_max_ps(a, b)
#define SMALLER(a, b) _mm256_min_ps(a, b)
#define LARGEST(numbers) largest_of_eight(numbers)
#define TOTAL(sums) total_of_eight((sums)[0] + (sums)[1])
#define LOW8(a, b) _mm256_unpacklo_epi8(a, b)
#define HIGH8(a, b) _mm256_unpackhi_epi8(a, b)
#define LOW16(a, b) _mm256_unpacklo_epi16(a, b)
#define HIGH16(a, b) _mm256_unpackhi_epi16(a, b)
#define STORE_OCTETS(place, numbers) store_eight(place, numbers)
TARGET INLINE void store_eight(uint8_t *place, __m256i numbers) {
    __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256(numbers, 1));
    _mm_storel_epi64((__m128i *)place, _mm_packus_epi16(words, words));
}
static int available_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}
#include "kernels.h"

/* AVX-512 with VNNI: one instruction multiplies bytes and adds four products in 32 bits. */
#define KIND avx512vnni
#define LANES 16
#define TILE 8
#define ACROSS 2
#define FORGET(place)
#ifdef EMULATED
#include EMULATED /* the same in plain C, for tests on a machine without it */
#else
#define TARGET __attribute__((target("avx2,bmi,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define BYTES __m512i
#define LOAD(place) _mm512_loadu_si512(place)
#define SPREAD(place) _mm512_set1_epi32(four_bytes(place))
#define DOT(sum, a, w) _mm512_dpbusd_epi32(sum, a, w)
#define ROUND(numbers) _mm512_cvtps_epi32(numbers)
#define FLOATS(integers) _mm512_cvtepi32_ps(integers)
#define LARGER(a, b) _mm512_max_ps(a, b)
#define SMALLER(a, b) _mm512_min_ps(a, b)
#define LARGEST(numbers) largest_of_eight(_mm256_max_ps(LOW256(numbers), HIGH256(numbers)))
#define TOTAL(sums) total_of_eight(_mm256_add_ps(LOW256((sums)[0]), HIGH256((sums)[0])))
#define LOW256(numbers) _mm512_castps512_ps256(numbers)
#define HIGH256(numbers) _mm512_extractf32x8_ps(numbers, 1)
#define GATHER(row, first, places, count) \
    gather_sixteen(row, (first) + 16, places, gather_sixteen(row, first, places, count))
#define LOW8(a, b) _mm512_unpacklo_epi8(a, b)
#define HIGH8(a, b) _mm512_unpackhi_epi8(a, b)
#define LOW16(a, b) _mm512_unpacklo_epi16(a, b)
#define HIGH16(a, b) _mm512_unpackhi_epi16(a, b)
#define STORE_OCTETS(place, numbers) _mm_storeu_si128((__m128i *)(place), _mm512_cvtepi32_epi8(numbers))
/* Sixteen numbers are stored, however many are not zero; the rest end where nothing is left to be read. */
TARGET INLINE int32_t gather_sixteen(uint8_t *row, int32_t first, uint16_t *places, int32_t count) {
    const __m512i order = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i numbers = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(row + first)));
    __mmask16 some = _mm512_test_epi32_mask(numbers, numbers);
    __m512i where = _mm512_add_epi32(order, _mm512_set1_epi32(first));
    _mm_storeu_si128((__m128i *)(row + count), _mm512_cvtepi32_epi8(_mm512_maskz_compress_epi32(some, numbers)));
    _mm256_storeu_si256((__m256i *)(places + count), _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(some, where)));
    return count + __builtin_popcount(some);
}
static int available_avx512vnni(void) {
    return available_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vnni");
}
#endif
#define SUMS BYTES
#define SUMS_FROM(place) LOAD(place)
#define INTEGERS(sums) (sums)
#define DOT2(sum, a, w, a2, w2) DOT(DOT(sum, a, w), a2, w2)
#include "kernels.h"
