/* What encoder.c needs of AVX-512 with VNNI, in plain C: its steps can be tested on a machine that lacks it. */

#define TARGET __attribute__((target("avx2,bmi,popcnt")))
#define BYTES wide_bytes
#define LOAD(place) emulated_load(place)
#define SPREAD(place) (four_bytes(place) - (wide_bytes){0})
#define DOT(sum, a, w) emulated_dot(sum, a, w)
#define ROUND(numbers) emulated_round(numbers)
#define FLOATS(integers) __builtin_convertvector(integers, wide_floats)
#define LARGER(a, b) emulated_limit(a, b, 1)
#define SMALLER(a, b) emulated_limit(a, b, 0)
#define LARGEST(numbers) emulated_largest(numbers)
#define TOTAL(sums) emulated_total((sums)[0])
#define LOW8(a, b) emulated_interleave(a, b, 1, 0)
#define HIGH8(a, b) emulated_interleave(a, b, 1, 8)
#define LOW16(a, b) emulated_interleave(a, b, 2, 0)
#define HIGH16(a, b) emulated_interleave(a, b, 2, 8)
#define STORE_OCTETS(place, numbers) emulated_store(place, numbers)

typedef int32_t wide_bytes __attribute__((vector_size(64), aligned(4), may_alias));
typedef float wide_floats __attribute__((vector_size(64), aligned(4), may_alias));

TARGET INLINE wide_bytes emulated_load(const void *place) {
    wide_bytes bytes;
    memcpy(&bytes, place, sizeof bytes);
    return bytes;
}

TARGET INLINE wide_bytes emulated_dot(wide_bytes sum, wide_bytes activations, wide_bytes weights) {
    for (int lane = 0; lane < 16; lane++)
        for (int k = 0; k < 4; k++)
            sum[lane] += ((const uint8_t *)&activations)[4 * lane + k] * ((const int8_t *)&weights)[4 * lane + k];
    return sum;
}

TARGET INLINE wide_bytes emulated_round(wide_floats numbers) {
    wide_bytes rounded = {0};
    for (int lane = 0; lane < 16; lane++) rounded[lane] = (int32_t)__builtin_rintf(numbers[lane]);
    return rounded;
}

/* As the processor does it: the second of the two where one is not a number. */
TARGET INLINE wide_floats emulated_limit(wide_floats a, wide_floats b, int larger) {
    for (int lane = 0; lane < 16; lane++)
        if (!(larger ? a[lane] > b[lane] : a[lane] < b[lane])) a[lane] = b[lane];
    return a;
}

TARGET INLINE float emulated_largest(wide_floats numbers) {
    for (int lane = 1; lane < 16; lane++) numbers[0] = numbers[lane] > numbers[0] ? numbers[lane] : numbers[0];
    return numbers[0];
}

TARGET INLINE float emulated_total(wide_floats numbers) {
    for (int half = 8; half; half /= 2)
        for (int k = 0; k < half; k++) numbers[k] += numbers[k + half];
    return numbers[0];
}

/* Pieces of `size` bytes in turn, in each part of 16 bytes, from its low or high half. */
TARGET INLINE wide_bytes emulated_interleave(wide_bytes a, wide_bytes b, int size, int from) {
    wide_bytes result;
    for (int part = 0; part < 64; part += 16)
        for (int k = 0; k < 8; k += size) {
            memcpy((char *)&result + part + 2 * k, (const char *)&a + part + from + k, (size_t)size);
            memcpy((char *)&result + part + 2 * k + size, (const char *)&b + part + from + k, (size_t)size);
        }
    return result;
}

TARGET INLINE void emulated_store(uint8_t *place, wide_bytes numbers) {
    for (int lane = 0; lane < 16; lane++) place[lane] = (uint8_t)numbers[lane];
}

static int available_avx512vnni(void) { return 1; }
