/* The forward pass of weft's own int8 encoders: what their model.onnx says, without padding and in fewer steps.

   Ranges in these graphs are fixed, so every activation that is multiplied has eight bits, with a scale and a zero
   that are known beforehand. Sums of integers are exact in any order; everything else is float32, and equal to what
   onnxruntime computes but for rounding.

   States have the same bytes on every processor, in a browser, and in any batch: a row never meets its neighbours, floats
   are added in one order whatever the width of vectors, and no product and sum are rounded as one (the compiler is told
   so). Otherwise a last digit would now and then round an activation the other way, and links would differ.

   What depends on the processor is in x86.h and wasm.h, which include kernels.h once for each kind of vector unit. A call
   uses one core and the scratch memory of its caller, so any number of calls may run side by side. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))
#define INLINE static inline __attribute__((always_inline))
#define APART static __attribute__((noinline)) /* inlined, the loops of several would compete for registers */

/* Changes with every change of the structures and functions that Python sees; library.py has the same number. */
enum { INTERFACE = 1 };

/* What the caller hands over. It is copied: nothing of it is needed once the encoder is there. */

typedef struct {
    const int8_t *weights; /* (inputs, outputs), within +-64 */
    const float *scales;   /* (outputs,) */
    const float *bias;     /* (outputs,) */
    float scale;           /* of the activation that is multiplied, */
    int32_t zero;          /* and its value for zero */
    int32_t inputs, outputs;
} Product;

typedef struct {
    const float *weight, *bias; /* (width,) */
    float epsilon;
} Norm;

typedef struct {
    Product attention; /* queries, keys and values side by side */
    Product mixing;
    Norm mixed;
    Product widening;  /* followed by a ReLU */
    Product narrowing; /* of an activation whose zero is 0, as most of its values are */
    Norm narrowed;
} Layer;

typedef struct {
    const uint8_t *words;   /* (vocabulary, width / per_byte): one or two codes a byte */
    const uint16_t *scales; /* (vocabulary, blocks) in half precision */
    const float *levels;    /* (256, per_byte): what a byte stands for */
    const float *types;     /* (n_types, width) */
    const float *positions; /* (n_positions, width) */
    Norm norm;
    int32_t vocabulary, n_types, n_positions, width, per_byte, blocks;
} Embedding;

typedef struct {
    Embedding embedding;
    const Product *projection; /* NULL where embeddings are as wide as layers */
    const Layer *layers;
    int32_t n_layers, heads, width, wide;
    float sparse; /* up to what share of active neurons the others are left out; below zero: what suits the kernel */
} Model;

/* Rows of a batch, as stretches of a chunk's subwords; arrays have the shape (rows, sides). */
typedef struct {
    const int64_t *start, *end, *keep_start, *keep_end;
    const int64_t *ids;             /* of all subwords of the chunk */
    const int64_t *prefix, *suffix; /* the special tokens round each side */
    int32_t rows, sides, n_prefix, n_suffix;
} Batch;

/* Where the activations of one step of a product lie in their row: two quads of them. */
typedef struct {
    uint16_t input, other;
} Step;

/* A product made ready for the kernels. */
typedef struct {
    int8_t *weights; /* in panels of columns, and in the order of the panels' steps */
    Step *steps;
    int32_t *first; /* the first step of each panel, and where the last panel ends */
    int8_t *strips; /* the weights once more, for activations that are mostly zero; NULL where they are not */
    float *scales, *bias;
    int32_t *start; /* what a sum begins with, so that the activation's zero counts for nothing */
    float inverse;  /* one over the activation's scale */
    int32_t zero, inputs, outputs;
} Packed;

typedef struct {
    Packed attention, mixing, widening, narrowing;
    Norm mixed, narrowed;
} PackedLayer;

typedef struct Encoder Encoder;

typedef struct {
    const char *name;
    int32_t lanes; /* 32-bit numbers in a vector */
    float sparse;
    int (*available)(void);
    double (*run)(const Encoder *, const Batch *, float *, char *);
} Kernel;

struct Encoder {
    const Kernel *kernel;
    Embedding embedding;
    Packed projection;
    PackedLayer *layers;
    int32_t projected, n_layers, heads, width, wide;
    float sparse;
};

/* A subword of a batch: what it is, and the row of the states that it goes to; -1 if nobody wants it. */
typedef struct {
    int64_t id, stored_at;
    int32_t type, position;
} Token;

/* The memory of one call. Kernels take several rows at a time: those after the last, up to MARGIN, are nobody's. */
typedef struct {
    Token *tokens;
    int64_t *lengths; /* of the rows */
    float *states;    /* (tokens, width) */
    float *sums;      /* what products give: (tokens, width), or (3 * heads, tokens, width / heads) */
    uint8_t *bytes;   /* (tokens, width): the states in eight bits */
    uint8_t *active;  /* (tokens, wide): the wide layer in eight bits */
    uint16_t *places; /* (tokens, wide): where its active neurons are, */
    int32_t *counts;  /* (tokens,) and how many */
    float *keys;      /* (width / heads, length): the keys of one head and row, as columns */
    float *shares;    /* (4, length): what four queries give to each key */
    size_t size;
} Scratch;

enum { MARGIN = 16, ALIGNED = 64, KEYS = 32 /* are filled up to a multiple of at most this */ };
/* How many columns a panel has, and whether a kernel adds products of bytes in 16 bits. */
#ifdef __wasm_simd128__
enum { PANEL = 4, NARROW_SUMS = 0 };
#else
enum { PANEL = 32, NARROW_SUMS = 1 };
#endif

static size_t rounded_up(size_t size, size_t step) { return (size + step - 1) / step * step; }

static void *piece(char *place, size_t *used, size_t size) {
    void *start = place ? place + *used : NULL;
    *used += rounded_up(size, ALIGNED);
    return start;
}

/* Scratch memory cut into its pieces; without a place to cut it from, only its size is right. */
static Scratch scratch_at(char *place, const Encoder *encoder, int64_t tokens, int64_t rows) {
    Scratch s = {0};
    size_t count = (size_t)tokens + MARGIN, width = (size_t)encoder->width, wide = (size_t)encoder->wide;
    size_t widest = width > (size_t)encoder->embedding.width ? width : (size_t)encoder->embedding.width;
    s.tokens = piece(place, &s.size, count * sizeof(Token));
    s.lengths = piece(place, &s.size, (size_t)rows * sizeof(int64_t));
    s.states = piece(place, &s.size, count * widest * sizeof(float));
    s.sums = piece(place, &s.size, count * 3 * width * sizeof(float));
    s.bytes = piece(place, &s.size, count * widest);
    s.active = piece(place, &s.size, count * wide);
    s.places = piece(place, &s.size, count * wide * sizeof(uint16_t));
    s.counts = piece(place, &s.size, count * sizeof(int32_t));
    s.keys = piece(place, &s.size, (count + KEYS) * (width / (size_t)encoder->heads) * sizeof(float));
    s.shares = piece(place, &s.size, (count + KEYS) * 4 * sizeof(float));
    return s;
}

static int64_t n_tokens(const Batch *batch) {
    int64_t count = 0;
    for (int64_t side = 0; side < (int64_t)batch->rows * batch->sides; side++)
        count += batch->n_prefix + batch->end[side] - batch->start[side] + batch->n_suffix;
    return count;
}

/* Rows laid flat: prefix, subwords and suffix of each side, with positions that begin anew. */
static void lay_flat(const Batch *batch, Scratch *s) {
    Token *token = s->tokens;
    for (int64_t row = 0; row < batch->rows; row++) {
        const Token *before = token;
        for (int32_t side = 0; side < batch->sides; side++) {
            int64_t at = row * batch->sides + side, start = batch->start[at], end = batch->end[at];
            for (int64_t place = 0; place < batch->n_prefix + end - start + batch->n_suffix; place++, token++) {
                int64_t subword = start + place - batch->n_prefix;
                token->id = subword < start ? batch->prefix[place]
                          : subword < end   ? batch->ids[subword]
                                            : batch->suffix[subword - end];
                token->stored_at = subword >= batch->keep_start[at] && subword < batch->keep_end[at] ? subword : -1;
                token->type = side;
                token->position = (int32_t)place;
            }
        }
        s->lengths[row] = token - before;
    }
}

/* A number in half precision. */
INLINE float half_as_float(uint16_t half) {
    uint32_t bits = (uint32_t)(half & 0x7fff) << 13;
    float number;
    memcpy(&number, &bits, sizeof number);
    number = (half & 0x7c00) == 0x7c00 ? INFINITY : number * 0x1p112f; /* their exponents begin elsewhere */
    return half & 0x8000 ? -number : number;
}

#define JOINED(name, kind) name##_##kind
#define EXPANDED(name, kind) JOINED(name, kind)
#define NAME(name) EXPANDED(name, KIND)

#ifdef __wasm_simd128__
#include "wasm.h"
#else
#include "x86.h"
#endif

/* The fastest first. */
static const Kernel KERNELS[] = {
#ifdef __wasm_simd128__
    {"wasm", 4, 0.2f, available_wasm, run_wasm},
#else
    {"avx512vnni", 16, 0.125f, available_avx512vnni, run_avx512vnni},
    {"avx2", 8, 0.2f, available_avx2, run_avx2},
#endif
};
enum { N_KERNELS = sizeof KERNELS / sizeof *KERNELS };

EXPORTED int32_t weft_interface(void) { return INTERFACE; }

/* The name of the kernel with this number, NULL if there is none; `available` says whether this processor has it. */
EXPORTED const char *weft_kernel(int32_t number, int32_t *available) {
    if (number < 0 || number >= N_KERNELS) return NULL;
    *available = KERNELS[number].available();
    return KERNELS[number].name;
}

static void *reserved(size_t size) { return aligned_alloc(ALIGNED, rounded_up(size ? size : 1, ALIGNED)); }

static void *copied(const void *from, size_t size) {
    void *copy = reserved(size);
    if (copy) memcpy(copy, from, size);
    return copy;
}

/* How far the products of a quad of inputs can go in each column of a panel: the weights above zero and those below, in
   two halves of the quad, as AVX2 adds them. */
typedef struct {
    int16_t sums[4 * PANEL];
    int16_t taken;
} Reach;

static Reach reach_of(const Product *product, int64_t quad, int64_t column) {
    Reach reach = {0};
    for (int64_t row = 0; NARROW_SUMS && row < 4; row++) {
        const int8_t *weights = product->weights + (quad * 4 + row) * product->outputs + column;
        int16_t *above = reach.sums + row / 2 * 2 * PANEL, *below = above + PANEL;
        for (int64_t k = 0; k < PANEL; k++) {
            above[k] += weights[k] > 0 ? weights[k] : 0;
            below[k] -= weights[k] < 0 ? weights[k] : 0;
        }
    }
    return reach;
}

/* Whether four products always fit into 16 bits: 128 times the largest activation, 255, does. */
static int fit(const Reach *a, const Reach *b) {
    int sound = 1;
    for (int k = 0; k < 4 * PANEL; k++) sound &= a->sums[k] + b->sums[k] <= 128;
    return sound;
}

/* The steps of one panel: each quad of inputs with the next that fits; with itself, and no weights, if none does. */
static int64_t plan(const Product *product, int64_t column, Reach *reaches, Step *steps) {
    int64_t quads = product->inputs / 4, count = 0;
    for (int64_t quad = 0; quad < quads; quad++) reaches[quad] = reach_of(product, quad, column);
    for (int64_t quad = 0; quad < quads; quad++) {
        if (reaches[quad].taken) continue;
        int64_t other = quad + 1;
        while (other < quads && (reaches[other].taken || !fit(reaches + quad, reaches + other))) other++;
        if (other < quads) reaches[other].taken = 1;
        steps[count++] = (Step){(uint16_t)(4 * quad), (uint16_t)(4 * (other < quads ? other : quad))};
    }
    return count;
}

/* Columns in panels, and in a panel the quads of each step: four inputs of a column side by side. */
static int pack_panels(Packed *packed, const Product *product) {
    int64_t panels = product->outputs / PANEL, quads = product->inputs / 4, count = 0;
    Reach *reaches = reserved((size_t)quads * sizeof *reaches);
    packed->first = reserved(((size_t)panels + 1) * sizeof *packed->first);
    packed->steps = reserved((size_t)(panels * quads) * sizeof *packed->steps);
    if (reaches && packed->first && packed->steps) {
        packed->first[0] = 0;
        for (int64_t panel = 0; panel < panels; panel++) {
            count += plan(product, panel * PANEL, reaches, packed->steps + count);
            packed->first[panel + 1] = (int32_t)count;
        }
        packed->weights = reserved((size_t)(count * 8 * PANEL));
    }
    free(reaches);
    if (!packed->weights) return 0;
    memset(packed->weights, 0, (size_t)(count * 8 * PANEL));
    for (int64_t panel = 0; panel < panels; panel++)
        for (int64_t number = packed->first[panel]; number < packed->first[panel + 1]; number++) {
            const Step *step = packed->steps + number;
            for (int half = 0; half < 1 + (step->other != step->input); half++) {
                const int8_t *quad = product->weights + (half ? step->other : step->input) * product->outputs + panel * PANEL;
                int8_t *place = packed->weights + (number * 2 + half) * 4 * PANEL;
                for (int64_t k = 0; k < 4 * PANEL; k++) place[k] = quad[k % 4 * product->outputs + k / 4];
            }
        }
    return 1;
}

/* Columns in strips of one vector of bytes, a strip's inputs one after the other. Inside a vector, columns stand where
   interleaving four inputs byte by byte, which processors do in parts of 16 bytes, brings them into order. */
static int pack_strips(Packed *packed, const Product *product, int32_t lanes) {
    int64_t columns = 4 * lanes;
    packed->strips = reserved((size_t)product->inputs * (size_t)product->outputs);
    if (!packed->strips) return 0;
    for (int64_t input = 0; input < product->inputs; input++)
        for (int64_t column = 0; column < product->outputs; column++) {
            int64_t k = column % columns, place = k % lanes / 4 * 16 + k / lanes * 4 + k % 4;
            packed->strips[(column / columns * product->inputs + input) * columns + place] =
                product->weights[input * product->outputs + column];
        }
    return 1;
}

static int pack(Packed *packed, const Product *product, int32_t lanes, int mostly_zero) {
    size_t outputs = (size_t)product->outputs;
    packed->inputs = product->inputs;
    packed->outputs = product->outputs;
    packed->zero = product->zero;
    packed->inverse = 1 / product->scale;
    packed->bias = copied(product->bias, outputs * sizeof(float));
    packed->scales = copied(product->scales, outputs * sizeof(float));
    packed->start = reserved(outputs * sizeof(int32_t));
    if (!packed->bias || !packed->scales || !packed->start) return 0;
    memset(packed->start, 0, outputs * sizeof(int32_t));
    for (int64_t input = 0; input < product->inputs; input++)
        for (size_t column = 0; column < outputs; column++)
            packed->start[column] -= product->zero * product->weights[(size_t)input * outputs + column];
    for (size_t column = 0; column < outputs; column++) packed->scales[column] *= product->scale;
    return pack_panels(packed, product) && (!mostly_zero || pack_strips(packed, product, lanes));
}

static void release(Packed *packed) {
    void *parts[] = {packed->weights, packed->steps, packed->first, packed->strips, packed->scales, packed->bias,
                     packed->start};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) free(parts[k]);
}

static int own(Norm *norm, int32_t width) {
    norm->weight = copied(norm->weight, (size_t)width * sizeof(float));
    norm->bias = copied(norm->bias, (size_t)width * sizeof(float));
    return norm->weight && norm->bias;
}

static int own_embedding(Embedding *e) {
    size_t words = (size_t)e->vocabulary, width = (size_t)e->width, per_byte = (size_t)e->per_byte;
    e->words = copied(e->words, words * (width / per_byte));
    e->scales = copied(e->scales, words * (size_t)e->blocks * sizeof(uint16_t));
    e->levels = copied(e->levels, 256 * per_byte * sizeof(float));
    e->types = copied(e->types, (size_t)e->n_types * width * sizeof(float));
    e->positions = copied(e->positions, (size_t)e->n_positions * width * sizeof(float));
    return own(&e->norm, e->width) && e->words && e->scales && e->levels && e->types && e->positions;
}

static void disown(const Norm *norm) {
    free((void *)norm->weight);
    free((void *)norm->bias);
}

EXPORTED void weft_free(Encoder *encoder) {
    if (!encoder) return;
    for (int32_t number = 0; encoder->layers && number < encoder->n_layers; number++) {
        PackedLayer *layer = encoder->layers + number;
        release(&layer->attention);
        release(&layer->mixing);
        release(&layer->widening);
        release(&layer->narrowing);
        disown(&layer->mixed);
        disown(&layer->narrowed);
    }
    const Embedding *e = &encoder->embedding;
    const void *parts[] = {e->words, e->scales, e->levels, e->types, e->positions};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) free((void *)parts[k]);
    disown(&e->norm);
    release(&encoder->projection);
    free(encoder->layers);
    free(encoder);
}

static int pack_layer(PackedLayer *layer, const Layer *from, int32_t width, int32_t lanes) {
    layer->mixed = from->mixed;
    layer->narrowed = from->narrowed;
    int sound = own(&layer->mixed, width);
    sound = own(&layer->narrowed, width) && sound; /* both, whatever happens: what is not ours must not be freed */
    return sound && pack(&layer->attention, &from->attention, lanes, 0) && pack(&layer->mixing, &from->mixing, lanes, 0) &&
           pack(&layer->widening, &from->widening, lanes, 0) && pack(&layer->narrowing, &from->narrowing, lanes, 1);
}

/* An encoder for one kernel, which the processor must have; NULL if there is not enough memory. */
EXPORTED Encoder *weft_load(const Model *model, int32_t kernel) {
    Encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) return NULL;
    encoder->kernel = KERNELS + kernel;
    encoder->embedding = model->embedding;
    encoder->projected = model->projection != NULL;
    encoder->n_layers = model->n_layers;
    encoder->heads = model->heads;
    encoder->width = model->width;
    encoder->wide = model->wide;
    encoder->sparse = model->sparse < 0 ? encoder->kernel->sparse : model->sparse;
    int32_t lanes = encoder->kernel->lanes;
    int sound = own_embedding(&encoder->embedding);
    encoder->layers = calloc((size_t)model->n_layers, sizeof *encoder->layers);
    sound = sound && encoder->layers && (!model->projection || pack(&encoder->projection, model->projection, lanes, 0));
    for (int32_t number = 0; sound && number < model->n_layers; number++)
        sound = pack_layer(encoder->layers + number, model->layers + number, model->width, lanes);
    if (sound) return encoder;
    weft_free(encoder);
    return NULL;
}

/* How many bytes of scratch memory, from an address that 64 divides, the call of `weft_run` needs. */
EXPORTED size_t weft_scratch(const Encoder *encoder, const Batch *batch) {
    return scratch_at(NULL, encoder, n_tokens(batch), batch->rows).size;
}

/* Write the states of a batch into the rows of `states`, shape (subwords, width); the sum of their squares. */
EXPORTED double weft_run(const Encoder *encoder, const Batch *batch, float *states, char *scratch) {
    return encoder->kernel->run(encoder, batch, states, scratch);
}
