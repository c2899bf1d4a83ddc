/* WebAssembly and its vectors of 16 bytes, which every browser has since 2023. It multiplies numbers of 16 bits and adds
   two products in 32 bits, so bytes are made wider first, and a column's sum stays in two parts to the end. */

#include <wasm_simd128.h>

#define QUAD v128_t
#define LOAD4(place) wasm_v128_load(place)
#define STORE4(place, numbers) wasm_v128_store(place, numbers)
#define TRANSPOSE4(a, b, c, d) transpose(&a, &b, &c, &d)
INLINE void transpose(v128_t *a, v128_t *b, v128_t *c, v128_t *d) {
    v128_t ab = wasm_i32x4_shuffle(*a, *b, 0, 4, 1, 5), ab2 = wasm_i32x4_shuffle(*a, *b, 2, 6, 3, 7);
    v128_t cd = wasm_i32x4_shuffle(*c, *d, 0, 4, 1, 5), cd2 = wasm_i32x4_shuffle(*c, *d, 2, 6, 3, 7);
    *a = wasm_i64x2_shuffle(ab, cd, 0, 2);
    *b = wasm_i64x2_shuffle(ab, cd, 1, 3);
    *c = wasm_i64x2_shuffle(ab2, cd2, 0, 2);
    *d = wasm_i64x2_shuffle(ab2, cd2, 1, 3);
}

#define AT_WORK(bytes) at_work(bytes)
/* Which of 32 activations are not zero, a bit for each. */
INLINE uint32_t at_work(const uint8_t *bytes) {
    v128_t nothing = wasm_i8x16_splat(0), first = wasm_v128_load(bytes), second = wasm_v128_load(bytes + 16);
    return wasm_i8x16_bitmask(wasm_i8x16_ne(first, nothing)) | wasm_i8x16_bitmask(wasm_i8x16_ne(second, nothing)) << 16;
}

INLINE v128_t last_two(v128_t numbers) { return wasm_i32x4_shuffle(numbers, numbers, 2, 3, 2, 3); }

INLINE float total_of_four(v128_t numbers) {
    numbers = wasm_f32x4_add(numbers, last_two(numbers));
    return wasm_f32x4_extract_lane(numbers, 0) + wasm_f32x4_extract_lane(numbers, 1);
}

INLINE float largest_of_four(v128_t numbers) {
    numbers = wasm_f32x4_pmax(numbers, last_two(numbers));
    float first = wasm_f32x4_extract_lane(numbers, 0), second = wasm_f32x4_extract_lane(numbers, 1);
    return second > first ? second : first;
}

/* Sums of four columns: those of the first two and of the last two, each in two parts. */
typedef struct {
    v128_t first, last;
} Halves;

INLINE Halves halves_from(const int32_t *place) {
    v128_t sums = wasm_v128_load(place), nothing = wasm_i32x4_splat(0);
    return (Halves){wasm_i32x4_shuffle(sums, nothing, 0, 4, 1, 4), wasm_i32x4_shuffle(sums, nothing, 2, 4, 3, 4)};
}

INLINE v128_t whole(Halves sums) {
    return wasm_i32x4_add(wasm_i32x4_shuffle(sums.first, sums.last, 0, 2, 4, 6),
                          wasm_i32x4_shuffle(sums.first, sums.last, 1, 3, 5, 7));
}

INLINE Halves dot(Halves sums, v128_t activations, v128_t weights) {
    v128_t wide = wasm_u16x8_extend_low_u8x16(activations);
    v128_t first = wasm_i32x4_dot_i16x8(wide, wasm_i16x8_extend_low_i8x16(weights));
    v128_t last = wasm_i32x4_dot_i16x8(wide, wasm_i16x8_extend_high_i8x16(weights));
    return (Halves){wasm_i32x4_add(sums.first, first), wasm_i32x4_add(sums.last, last)};
}

#define KIND wasm
#define TARGET
#define LANES 4
#define TILE 2 /* more sums than these would not stay in the registers of an x86 processor */
#define ACROSS 1
#define FORGET(place)
#define BYTES v128_t
#define SUMS Halves
#define SUMS_FROM(place) halves_from(place)
#define INTEGERS(sums) whole(sums)
#define LOAD(place) wasm_v128_load(place)
#define SPREAD(place) wasm_v128_load32_splat(place)
#define DOT(sums, a, w) dot(sums, a, w)
#define DOT2(sums, a, w, a2, w2) dot(dot(sums, a, w), a2, w2)
#define ROUND(numbers) wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(numbers))
#define FLOATS(integers) wasm_f32x4_convert_i32x4(integers)
#define LARGER(a, b) wasm_f32x4_pmax(b, a)
#define SMALLER(a, b) wasm_f32x4_pmin(b, a)
#define LARGEST(numbers) largest_of_four(numbers)
#define TOTAL(sums) \
    total_of_four(wasm_f32x4_add(wasm_f32x4_add((sums)[0], (sums)[2]), wasm_f32x4_add((sums)[1], (sums)[3])))
#define LOW8(a, b) wasm_i8x16_shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH8(a, b) wasm_i8x16_shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOW16(a, b) wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH16(a, b) wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define STORE_OCTETS(place, numbers) store_four(place, numbers)
INLINE void store_four(uint8_t *place, v128_t numbers) {
    v128_t words = wasm_u16x8_narrow_i32x4(numbers, numbers);
    wasm_v128_store32_lane(place, wasm_u8x16_narrow_i16x8(words, words), 0);
}
static int available_wasm(void) { return 1; }
#include "kernels.h"
