/* The forward pass for one kind of vector unit. x86.h and wasm.h say what differs between them.

   A vector holds LANES floats or 32-bit integers. Products go in tiles of TILE rows and a panel of columns, which is
   ACROSS vectors wide, so that what is loaded is used several times and sums stay in registers. */

#define VF NAME(floats)
#define VI NAME(integers)

typedef float VF __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t VI __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

TARGET INLINE VF NAME(at)(const float *place) { return *(const VF *)place; }

TARGET INLINE void NAME(put)(float *place, VF numbers) { *(VF *)place = numbers; }

/* Sums are of every 16th number, however many of these sums a vector holds. TOTAL adds them up the same way everywhere:
   the last eight to the first eight, then the last four of those to the first four, and so on. */
#define PARTS (16 / LANES)

/* Numbers to eight bits; those out of range go to its ends. */
TARGET INLINE void NAME(put_octets)(uint8_t *place, VF numbers, float inverse, int32_t zero) {
    VF low = (VF){0} - (float)zero, high = low + 255.0f;
    VF scaled = SMALLER(LARGER(numbers * inverse, low), high);
    STORE_OCTETS(place, (BYTES)((VI)ROUND(scaled) + zero));
}

TARGET INLINE void NAME(row_octets)(uint8_t *octets, const float *row, int32_t width, const Packed *next) {
    for (int32_t k = 0; k < width; k += LANES)
        NAME(put_octets)(octets + k, NAME(at)(row + k), next->inverse, next->zero);
}

/* Some rows of eight-bit activations times a panel of weights. The results, `stride` apart from row to row, are floats;
   or, with `inverse`, eight bits after a ReLU, which is the low end of what eight bits can say. */
TARGET INLINE void NAME(tile)(const Packed *p, const uint8_t *bytes, int64_t panel, void *results, int64_t stride,
                              const float *inverse) {
    SUMS sums[TILE][ACROSS];
    const uint8_t *lines[TILE];
    int64_t column = panel * PANEL;
    for (int row = 0; row < TILE; row++) {
        lines[row] = bytes + row * (int64_t)p->inputs;
        for (int part = 0; part < ACROSS; part++) sums[row][part] = SUMS_FROM(p->start + column + part * LANES);
    }
    for (const Step *step = p->steps + p->first[panel]; step < p->steps + p->first[panel + 1]; step++) {
        const int8_t *weights = p->weights + (step - p->steps) * 8 * PANEL;
        for (int row = 0; row < TILE; row++) {
            FORGET(weights);
            BYTES quad = SPREAD(lines[row] + step->input), other = SPREAD(lines[row] + step->other);
            for (int part = 0; part < ACROSS; part++) {
                BYTES first = LOAD(weights + part * 4 * LANES), second = LOAD(weights + 4 * PANEL + part * 4 * LANES);
                sums[row][part] = DOT2(sums[row][part], quad, first, other, second);
            }
        }
    }
    for (int part = 0; part < ACROSS; part++) {
        VF scale = NAME(at)(p->scales + column + part * LANES), bias = NAME(at)(p->bias + column + part * LANES);
        for (int row = 0; row < TILE; row++) {
            VF result = (VF)FLOATS(INTEGERS(sums[row][part])) * scale + bias;
            int64_t place = row * stride + part * LANES;
            if (inverse) NAME(put_octets)((uint8_t *)results + place, result, *inverse, 0);
            else NAME(put)((float *)results + place, result);
        }
    }
}

/* All rows times all columns; a panel's weights stay in the nearest cache meanwhile. Results come in blocks of columns,
   one after the other, so that what attention reads of a head lies together. */
TARGET APART void NAME(multiply)(const Packed *p, const uint8_t *bytes, int64_t rows, float *floats, int64_t block) {
    for (int64_t panel = 0; panel < p->outputs / PANEL; panel++) {
        int64_t column = panel * PANEL;
        float *results = floats + column / block * block * (rows + MARGIN) + column % block;
        for (int64_t row = 0; row < rows; row += TILE)
            NAME(tile)(p, bytes + row * p->inputs, panel, results + row * block, block, NULL);
    }
}

TARGET APART void NAME(widen)(const Packed *p, const uint8_t *bytes, int64_t rows, uint8_t *octets, float inverse) {
    for (int64_t panel = 0; panel < p->outputs / PANEL; panel++)
        for (int64_t row = 0; row < rows; row += TILE)
            NAME(tile)(p, bytes + row * p->inputs, panel, octets + row * p->outputs + panel * PANEL, p->outputs, &inverse);
}

TARGET static double NAME(share_at_work)(const uint8_t *bytes, int64_t size) {
    int64_t count = 0;
    for (int64_t k = 0; k < size; k += 32) count += __builtin_popcount(AT_WORK(bytes + k));
    return (double)count / (double)size;
}

/* Move those of 32 activations that are not zero to the front of a row, where `count` stand. Returns the new count. */
TARGET INLINE int32_t NAME(gather_bytes)(uint8_t *row, int32_t first, uint16_t *places, int32_t count) {
    for (uint32_t bits = AT_WORK(row + first); bits; bits &= bits - 1) {
        int32_t place = first + __builtin_ctz(bits);
        places[count] = (uint16_t)place;
        row[count++] = row[place];
    }
    return count;
}
#ifndef GATHER
#define GATHER NAME(gather_bytes)
#endif

/* Move a row's activations that are not zero to its front, filled up to quads, and note where they stood. */
TARGET static int32_t NAME(gather)(uint8_t *row, int32_t wide, uint16_t *places) {
    int32_t count = 0;
    for (int32_t first = 0; first < wide; first += 32) count = GATHER(row, first, places, count);
    for (; count % 4; count++) {
        places[count] = 0;
        row[count] = 0;
    }
    return count;
}

/* What `multiply` gives for activations that are mostly zero: four others at a time, wherever they stand. */
TARGET APART void NAME(multiply_few)(const Packed *p, uint8_t *bytes, int64_t rows, Scratch *s, float *floats) {
    enum { STRIP = 4 * LANES };
    for (int64_t row = 0; row < rows; row++)
        s->counts[row] = NAME(gather)(bytes + row * p->inputs, p->inputs, s->places + row * p->inputs);
    for (int64_t column = 0; column < p->outputs; column += STRIP) {
        const int8_t *weights = p->strips + column * p->inputs;
        for (int64_t row = 0; row < rows; row++) {
            const uint16_t *places = s->places + row * p->inputs;
            SUMS sums[4];
            memset(sums, 0, sizeof sums);
            for (int32_t k = 0; k < s->counts[row]; k += 4) {
                BYTES quad = SPREAD(bytes + row * p->inputs + k);
                BYTES a = LOAD(weights + places[k] * STRIP), b = LOAD(weights + places[k + 1] * STRIP);
                BYTES c = LOAD(weights + places[k + 2] * STRIP), d = LOAD(weights + places[k + 3] * STRIP);
                BYTES ab = LOW8(a, b), cd = LOW8(c, d), ab2 = HIGH8(a, b), cd2 = HIGH8(c, d);
                sums[0] = DOT(sums[0], quad, LOW16(ab, cd));
                sums[1] = DOT(sums[1], quad, HIGH16(ab, cd));
                sums[2] = DOT(sums[2], quad, LOW16(ab2, cd2));
                sums[3] = DOT(sums[3], quad, HIGH16(ab2, cd2));
            }
            for (int part = 0; part < 4; part++) {
                int64_t k = column + part * LANES;
                VF result = (VF)FLOATS(INTEGERS(sums[part])) * NAME(at)(p->scales + k) + NAME(at)(p->bias + k);
                NAME(put)(floats + row * p->outputs + k, result);
            }
        }
    }
}

/* Layer norm of a row in place, after something is added to it, if anything is. */
TARGET INLINE void NAME(normalise)(const Norm *norm, float *row, const float *added, int32_t width) {
    VF sum[PARTS] = {{0}}, squares[PARTS] = {{0}};
    for (int32_t k = 0; k < width; k += 16)
        for (int part = 0; part < PARTS; part++) {
            int32_t place = k + part * LANES;
            VF numbers = NAME(at)(row + place);
            if (added) numbers += NAME(at)(added + place);
            NAME(put)(row + place, numbers);
            sum[part] += numbers;
        }
    float mean = TOTAL(sum) / (float)width;
    for (int32_t k = 0; k < width; k += 16)
        for (int part = 0; part < PARTS; part++) {
            VF apart = NAME(at)(row + k + part * LANES) - mean;
            squares[part] += apart * apart;
        }
    float inverse = 1 / __builtin_sqrtf(TOTAL(squares) / (float)width + norm->epsilon);
    for (int32_t k = 0; k < width; k += LANES) {
        VF apart = (NAME(at)(row + k) - mean) * inverse;
        NAME(put)(row + k, apart * NAME(at)(norm->weight + k) + NAME(at)(norm->bias + k));
    }
}

TARGET static void NAME(embed)(const Embedding *e, const Token *token, float *row) {
    const uint8_t *codes = e->words + token->id * (e->width / e->per_byte);
    const uint16_t *scales = e->scales + token->id * e->blocks;
    for (int32_t byte = 0, k = 0; k < e->width; byte++)
        for (int32_t n = 0; n < e->per_byte; n++, k++) row[k] = e->levels[codes[byte] * e->per_byte + n];
    for (int32_t block = 0, k = 0; block < e->blocks; block++)
        for (float scale = half_as_float(scales[block]); k < (block + 1) * (e->width / e->blocks); k++) row[k] *= scale;
    const float *type = e->types + token->type * e->width, *position = e->positions + token->position * e->width;
    for (int32_t k = 0; k < e->width; k++) row[k] = row[k] + type[k] + position[k];
    NAME(normalise)(&e->norm, row, NULL, e->width);
}

/* Rows of floats as columns, `stride` apart; zeros fill the stride up. */
TARGET INLINE void NAME(transpose)(const float *rows, int64_t count, int64_t width, float *columns, int64_t stride) {
    static const float nothing[4];
    for (int64_t row = 0; row < stride; row += 4)
        for (int64_t k = 0; k < width; k += 4) {
            QUAD part[4];
            for (int n = 0; n < 4; n++) part[n] = LOAD4(row + n < count ? rows + (row + n) * width + k : nothing);
            TRANSPOSE4(part[0], part[1], part[2], part[3]);
            for (int n = 0; n < 4; n++) STORE4(columns + (k + n) * stride + row, part[n]);
        }
}

/* Four rows of floats times two vectors of columns. */
TARGET INLINE void NAME(mix)(const float *const left[4], const float *right, int64_t stride, int64_t count, VF sums[4][2]) {
    for (int row = 0; row < 4; row++) sums[row][0] = sums[row][1] = (VF){0};
    for (int64_t k = 0; k < count; k++, right += stride) {
        VF first = NAME(at)(right), second = NAME(at)(right + LANES);
        for (int row = 0; row < 4; row++) {
            sums[row][0] += first * left[row][k];
            sums[row][1] += second * left[row][k];
        }
    }
}

/* Two to the power of numbers that are not above zero: a polynomial for the fraction, the bits of an exponent for the
   rest. Off by less than one part in a million. */
TARGET INLINE VF NAME(power)(VF x) {
    x = LARGER(x, (VF){0} - 126.0f);
    VI whole = (VI)ROUND(x);
    VF f = x - (VF)FLOATS((BYTES)whole), p = f * 1.5403530e-4f + 1.3333558e-3f;
    p = p * f + 9.6181291e-3f;
    p = p * f + 5.5504109e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1.0f;
    return (VF)((VI)p + (whole << 23));
}

/* The scores of a query to what it gives to each key, times a number that is returned. */
TARGET INLINE float NAME(soften)(float *scores, int64_t length, float scale) {
    int64_t padded = (length + 15) / 16 * 16;
    for (int64_t k = length; k < padded; k++) scores[k] = -INFINITY;
    VF top = NAME(at)(scores), sum[PARTS] = {{0}};
    for (int64_t k = LANES; k < padded; k += LANES) top = LARGER(NAME(at)(scores + k), top);
    float largest = LARGEST(top);
    for (int64_t k = 0; k < padded; k += 16)
        for (int part = 0; part < PARTS; part++) {
            VF share = NAME(power)((NAME(at)(scores + k + part * LANES) - largest) * scale);
            NAME(put)(scores + k + part * LANES, share);
            sum[part] += share;
        }
    return TOTAL(sum);
}

/* One head of one row: queries, keys and values of shape (length, size) to what `next` multiplies, in eight bits. */
TARGET APART void NAME(attend)(const float *queries, const float *keys, const float *values, int64_t length, int64_t size,
                                const Packed *next, Scratch *s, uint8_t *octets) {
    int64_t together = PARTS > 1 ? 16 : 2 * LANES, padded = (length + together - 1) / together * together;
    float scale = 1.44269504f / __builtin_sqrtf((float)size); /* powers are of two, and not of e */
    NAME(transpose)(keys, length, size, s->keys, padded);
    for (int64_t first = 0; first < length; first += 4) {
        VF sums[4][2];
        const float *left[4], *shares[4];
        float inverse[4];
        for (int row = 0; row < 4; row++) {
            left[row] = queries + (first + row < length ? first + row : length - 1) * size; /* the last one again */
            shares[row] = s->shares + row * padded;
        }
        for (int64_t k = 0; k < padded; k += 2 * LANES) {
            NAME(mix)(left, s->keys + k, padded, size, sums);
            for (int row = 0; row < 4; row++)
                for (int half = 0; half < 2; half++) NAME(put)(s->shares + row * padded + k + half * LANES, sums[row][half]);
        }
        for (int row = 0; row < 4; row++) inverse[row] = 1 / NAME(soften)(s->shares + row * padded, length, scale);
        for (int64_t k = 0; k < size; k += 2 * LANES) {
            NAME(mix)(shares, values + k, size, length, sums);
            for (int row = 0; row < 4 && first + row < length; row++)
                for (int half = 0; half < 2; half++)
                    NAME(put_octets)(octets + (first + row) * next->inputs + k + half * LANES,
                                     sums[row][half] * inverse[row], next->inverse, next->zero);
        }
    }
}

TARGET static void NAME(attention)(const Encoder *e, const PackedLayer *layer, int64_t count, int64_t rows, Scratch *s) {
    int64_t size = e->width / e->heads, block = size * (count + MARGIN);
    NAME(multiply)(&layer->attention, s->bytes, count, s->sums, size);
    for (int64_t row = 0, at = 0; row < rows; at += s->lengths[row++])
        for (int32_t head = 0; head < e->heads; head++) {
            const float *queries = s->sums + head * block + at * size, *keys = queries + e->heads * block;
            NAME(attend)(queries, keys, keys + e->heads * block, s->lengths[row], size, &layer->mixing, s,
                         s->bytes + at * e->width + head * size);
        }
    NAME(multiply)(&layer->mixing, s->bytes, count, s->sums, e->width);
}

TARGET static void NAME(feed_forward)(const Encoder *e, const PackedLayer *layer, int64_t count, Scratch *s) {
    NAME(widen)(&layer->widening, s->bytes, count, s->active, layer->narrowing.inverse);
    if (NAME(share_at_work)(s->active, count * e->wide) < e->sparse)
        NAME(multiply_few)(&layer->narrowing, s->active, count, s, s->sums);
    else NAME(multiply)(&layer->narrowing, s->active, count, s->sums, e->width);
}

/* Add what a product gave, normalise, and round to eight bits for the next product, if there is one. */
TARGET static void NAME(add_and_normalise)(const Norm *norm, const Packed *next, int64_t count, int32_t width, Scratch *s) {
    for (int64_t at = 0; at < count * width; at += width) {
        NAME(normalise)(norm, s->states + at, s->sums + at, width);
        if (next) NAME(row_octets)(s->bytes + at, s->states + at, width, next);
    }
}

TARGET static double NAME(run)(const Encoder *e, const Batch *batch, float *states, char *scratch) {
    int64_t count = n_tokens(batch);
    Scratch s = scratch_at(scratch, e, count, batch->rows);
    lay_flat(batch, &s);
    int32_t width = e->width, narrow = e->embedding.width;
    const Packed *first = e->projected ? &e->projection : &e->layers[0].attention;
    for (int64_t k = 0; k < count; k++) {
        NAME(embed)(&e->embedding, s.tokens + k, s.states + k * narrow);
        NAME(row_octets)(s.bytes + k * narrow, s.states + k * narrow, narrow, first);
    }
    if (e->projected) {
        NAME(multiply)(first, s.bytes, count, s.states, width);
        for (int64_t at = 0; at < count * width; at += width)
            NAME(row_octets)(s.bytes + at, s.states + at, width, &e->layers[0].attention);
    }
    for (int32_t number = 0; number < e->n_layers; number++) {
        const PackedLayer *layer = e->layers + number;
        NAME(attention)(e, layer, count, batch->rows, &s);
        NAME(add_and_normalise)(&layer->mixed, &layer->widening, count, width, &s);
        NAME(feed_forward)(e, layer, count, &s);
        const Packed *next = number + 1 < e->n_layers ? &layer[1].attention : NULL;
        NAME(add_and_normalise)(&layer->narrowed, next, count, width, &s);
    }
    double size = 0;
    for (int64_t k = 0; k < count; k++) {
        VF squares[PARTS] = {{0}};
        for (int32_t column = 0; column < width; column += LANES) {
            VF numbers = NAME(at)(s.states + k * width + column);
            squares[column / LANES % PARTS] += numbers * numbers;
        }
        size += TOTAL(squares);
        if (s.tokens[k].stored_at >= 0)
            memcpy(states + s.tokens[k].stored_at * width, s.states + k * width, (size_t)width * sizeof(float));
    }
    return size;
}

#undef VF
#undef VI
#undef PARTS
#undef KIND
#undef TARGET
#undef LANES
#undef TILE
#undef ACROSS
#undef FORGET
#undef BYTES
#undef SUMS
#undef SUMS_FROM
#undef INTEGERS
#undef LOAD
#undef SPREAD
#undef WIDER
#undef DOT
#undef DOT2
#undef ROUND
#undef FLOATS
#undef LARGER
#undef SMALLER
#undef LARGEST
#undef TOTAL
#undef GATHER
#undef LOW8
#undef HIGH8
#undef LOW16
#undef HIGH16
#undef STORE_OCTETS
