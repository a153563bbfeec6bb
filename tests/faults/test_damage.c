/* test_damage.c: damaged bundles, texts and binaries. Each is refused, or what does not fit is left
 * to another recipe, or does not matter; nothing crashes, and no product is wrong.
 *
 * An argument that is told by the code of another one of the same size and kind, such as N for M,
 * can not be seen by anybody; of those only what the host does is looked at. An item is a byte.
 */
#include "bundles.h"
#include "core/random.h"
#include "setup.h"
#include "reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    M = 20, N = 24, K = 28, NUM_SOURCES = 2, NUM_BYTES = 4096, NUM_BINARY_ITEMS = 120,
    NUM_TEXT_ITEMS = 60,
    SHORT_STRIDE = 64,                 /* the short form changes one bit of so many, */
    SHORT_PROGRAMS = 3,                /* one program of so many after the first few, */
    FIRST_PROGRAMS = 16,
    SHORT_CODES = 7                    /* and puts one code of so many in an argument's place */
};

/* The parts of a recipe, to be damaged. Its texts and programs are those of the bundle. */
struct copy {
    struct kiln_bundle bundle;
    struct kiln_recipe recipes[2];
    struct kiln_stage stages[KILN_MAX_STAGES];
    struct kiln_region regions[KILN_MAX_REGIONS];
    struct kiln_time time;
    struct kiln_pin pin;
};

static struct setup setup;
static bool is_open;
static cl_mem a, b, c;

static float value(size_t index, unsigned modulus)
{
    return (float) (index % modulus) - (float) (modulus / 2);
}

static cl_mem integers(size_t num, unsigned modulus)
{
    float values[K * (M > N ? M : N)];
    for (size_t i = 0; i < num; i++) {
        values[i] = value(i, modulus);
    }
    return setup_buffer(&setup, num * sizeof *values, values);
}

static void open_once(const struct options *options)
{
    if (!is_open) {
        setup_open(options, &setup);
        a = integers(M * K, 7);
        b = integers(K * N, 5);
        c = integers(M * N, 3);
        is_open = true;
    }
}

/* ---- Calls ---- */

static const struct kiln_gemm call = { .m = M, .n = N, .k = K, .alpha = 1 };

static bool product_is_right(void)
{
    float found[M * N];
    setup_read(&setup, c, sizeof found, found);
    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < N; j++) {
            float sum = 0;
            for (size_t p = 0; p < K; p++) {
                sum += value(i * K + p, 7) * value(p * N + j, 5);
            }
            if (found[i * N + j] != sum) {
                return false;
            }
        }
    }
    return true;
}

static unsigned fail(const char *what)
{
    printf("FAILED: %s: %s\n", children_noted(), what);
    return 1;
}

/* Another recipe, the generic one at last, can always serve. */
static unsigned multiply(struct kiln_context *kiln)
{
    const float ruin = -99;
    struct kiln_gemm gemm = call;
    gemm.a = a;
    gemm.b = b;
    gemm.c = c;
    need(clEnqueueFillBuffer(setup.queue, c, &ruin, sizeof ruin, 0, M * N * sizeof ruin, 0, NULL,
                 NULL) == CL_SUCCESS,
            "a fill");
    const enum kiln_status status = kiln_gemm_enqueue(kiln, &gemm, setup.queue, 0, NULL, NULL);
    clFinish(setup.queue);
    if (status != KILN_SUCCESS) {
        return fail(kiln_status_string(status));
    }
    return product_is_right() ? 0 : fail("a wrong product");
}

/* The library is asked about all kinds of calls, and enqueues nothing. */
static void ask(struct kiln_context *kiln)
{
    static const size_t extents[][3] = { { M, N, K }, { 1, 1, 1 }, { 0, 1, 1 }, { 1000, 1, 0 } };
    char text[2048];
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
        struct kiln_gemm gemm = call;
        gemm.m = extents[i][0];
        gemm.n = extents[i][1];
        gemm.k = extents[i][2];
        kiln_gemm_explain(kiln, &gemm, text, sizeof text);
        kiln_gemm_workspace_bytes(kiln, &gemm, &bytes);
        kiln_pack_bytes(kiln, &gemm, KILN_PACK_A, &bytes);
        kiln_pack_bytes(kiln, &gemm, KILN_PACK_B, &bytes);
    }
}

static enum kiln_status create(const struct kiln_bundle *bundle, struct kiln_context **kiln)
{
    const struct kiln_context_params params = { .bundle = bundle };
    return kiln_context_create(setup.cl, setup.device, &params, kiln);
}

/* ---- Damaged tables ---- */

/* The first recipe of a small bundle, with a time, pinned to the call, and the plain one. */
static void copy_make(struct copy *copy, unsigned source)
{
    const struct kiln_bundle *of = source == 0 ? staged_bundle() : imaged_bundle();
    memset(copy, 0, sizeof *copy);
    copy->bundle = *of;
    memcpy(copy->recipes, of->recipes, sizeof copy->recipes);
    memcpy(copy->stages, of->recipes[0].stages, of->recipes[0].num_stages * sizeof *copy->stages);
    memcpy(copy->regions, of->recipes[0].regions,
            of->recipes[0].num_regions * sizeof *copy->regions);
    copy->recipes[0].stages = copy->stages;
    copy->recipes[0].regions = copy->regions;
    for (unsigned i = 0; i < KILN_NUM_TERMS; i++) {
        copy->time.coefficient[i] = 1;
    }
    copy->recipes[0].time = &copy->time;
    copy->pin = (struct kiln_pin){ KILN_SINGLE, M, N, K, 1,
        { 0, KILN_NO_RECIPE, KILN_NO_RECIPE, KILN_NO_RECIPE } };
    copy->bundle.recipes = copy->recipes;
    copy->bundle.pins = &copy->pin;
    copy->bundle.num_pins = 1;
}

/* A run of bytes without a pointer in it, and without a number of things that lie elsewhere. */
struct run {
    const char *name;
    unsigned char *at;
    size_t bytes;
};

#define RUN(name, object, first, last)                                                   \
    { name, (unsigned char *) &(object).first,                                           \
      (size_t) ((unsigned char *) (&(object).last + 1) - (unsigned char *) &(object).first) }

/* Byte `number` of the copy's tables; false: there are not so many. */
static bool find_byte(struct copy *copy, unsigned long number, const char **name,
        unsigned char **at)
{
    const struct run fixed[] = {
        RUN("a recipe's modes and guard", copy->recipes[0], precision, as_is),
        RUN("a recipe's program", copy->recipes[0], program, program),
        RUN("a time", copy->time, coefficient, coefficient),
        RUN("a pin", copy->pin, precision, recipe),
        RUN("a bundle's format", copy->bundle, format, format),
    };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        if (number < fixed[i].bytes) {
            *name = fixed[i].name;
            *at = fixed[i].at + number;
            return true;
        }
        number -= fixed[i].bytes;
    }
    for (unsigned i = 0; i < copy->recipes[0].num_stages; i++) {
        const struct run stage = RUN("a stage", copy->stages[i], work_dim, prepares);
        if (number < stage.bytes) {
            *name = stage.name;
            *at = stage.at + number;
            return true;
        }
        number -= stage.bytes;
    }
    *name = "a region";
    *at = (unsigned char *) copy->regions + number;
    return number < copy->recipes[0].num_regions * sizeof *copy->regions;
}

static bool is_argument(const struct copy *copy, const unsigned char *at)
{
    for (unsigned i = 0; i < copy->recipes[0].num_stages; i++) {
        const struct kiln_stage *stage = &copy->stages[i];
        if (at == &stage->num_args || (at >= stage->args && at < stage->args + stage->num_args)) {
            return true;
        }
    }
    return false;
}

/* How a kernel is told: memory, an image, or a number of so many bytes; 0: no code. */
static int kind_of(unsigned code)
{
    enum { MEMORY = 100, IMAGE };
    switch (code) {
    case KILN_ARG_A:
    case KILN_ARG_B:
    case KILN_ARG_C:
    case KILN_ARG_WORKSPACE:
    case KILN_ARG_PACKED_A:
    case KILN_ARG_PACKED_B: return MEMORY;
    case KILN_ARG_WORKSPACE_IMAGE: return IMAGE;
    case KILN_ARG_PACKED_A_AT:
    case KILN_ARG_PACKED_B_AT:
    case KILN_ARG_REGION_0:
    case KILN_ARG_REGION_1:
    case KILN_ARG_REGION_2:
    case KILN_ARG_REGION_3: return sizeof(cl_long);
    default: return code < KILN_NUM_ARG_CODES ? (int) sizeof(cl_int) : 0;
    }
}

static unsigned do_value(unsigned source, unsigned long number, unsigned value_there)
{
    struct copy copy;
    struct kiln_context *kiln = NULL;
    const char *name = NULL;
    unsigned char *at = NULL;
    unsigned failures = 0;
    copy_make(&copy, source);
    need(find_byte(&copy, number, &name, &at), "a byte");
    const unsigned char before = *at;
    const bool is_seen = is_argument(&copy, at) && kind_of(before) != kind_of(value_there);
    *at = (unsigned char) value_there;
    children_note("%s, %s: byte %lu is %u instead of %u", copy.bundle.name, name, number,
            value_there, before);
    const enum kiln_status status = create(&copy.bundle, &kiln);
    if (status == KILN_SUCCESS) {
        ask(kiln);
        failures += is_seen ? multiply(kiln) : 0;
    } else if (status != KILN_INVALID_BUNDLE) {
        failures += fail(kiln_status_string(status));
    }
    kiln_context_destroy(&kiln);
    return failures;
}

/* Every code in the place of an argument; of other bytes each bit is turned over. The short form
 * does some of these, other ones for each byte. */
static unsigned do_byte(const struct options *options, unsigned source, unsigned long number)
{
    struct copy copy;
    const char *name = NULL;
    unsigned char *at = NULL;
    unsigned failures = 0;
    copy_make(&copy, source);
    if (!find_byte(&copy, number, &name, &at)) {
        return 0;
    }
    const bool is_code = is_argument(&copy, at);
    for (unsigned i = 0; i < (is_code ? KILN_NUM_ARG_CODES + 2u : 8); i++) {
        const unsigned changed = is_code ? i : *at ^ 1u << i;
        const unsigned stride = is_code ? SHORT_CODES : SHORT_STRIDE;
        const bool is_turn = options->whole || (number + i) % stride == 0;
        if (changed != *at && is_turn) {
            failures += do_value(source, number, changed);
        }
    }
    return failures;
}

/* ---- Damaged binaries ---- */

/* The device's binary of a program, its own source behind it or not. */
struct embedded {
    struct kiln_bundle bundle;
    struct kiln_program programs[2];
    struct kiln_binary binary;
    unsigned char *data;
};

static bool embedded_make(struct embedded *embedded, bool with_source)
{
    struct kiln_context *kiln = setup_kiln(&setup, staged_bundle());
    size_t size = 0;
    const enum kiln_status status = kiln_context_binary(kiln, 0, &embedded->data, &size);
    kiln_context_destroy(&kiln);
    if (status != KILN_SUCCESS) {
        return false;
    }
    embedded->bundle = *staged_bundle();
    embedded->programs[0] = embedded->bundle.programs[0];
    embedded->programs[1] = embedded->bundle.programs[1];
    embedded->binary = (struct kiln_binary){
        BINARY(embedded->data, size),
        .source_hash = embedded->programs[0].hash,
    };
    embedded->programs[0].binaries = &embedded->binary;
    embedded->programs[0].num_binaries = 1;
    if (!with_source) {
        embedded->programs[0].num_symbols = 0;
    }
    embedded->bundle.programs = embedded->programs;
    return true;
}

static bool serves_from_binary(struct kiln_context *kiln)
{
    char text[2048] = "";
    kiln_gemm_explain(kiln, &call, text, sizeof text);
    return strstr(text, "kernel: staged\n") != NULL && strstr(text, "program: binary\n") != NULL;
}

/* The first items leave the binary whole or cut it off; the others change one byte. */
static void damage(struct embedded *embedded, unsigned long number, uint64_t *state)
{
    const size_t size = embedded->binary.size;
    if (number < 2) {
        children_note("a whole binary, %s source", number % 2 ? "with" : "without");
    } else if (number < 16) {
        embedded->binary.size = number < 4 ? number - 1 : random_next(state) % size + 1;
        children_note("a binary of %zu bytes instead of %zu", embedded->binary.size, size);
    } else {
        const size_t at = number < 80 ? number / 2 : random_next(state) % size;
        embedded->data[at] ^= (unsigned char) (random_next(state) % 255 + 1);
        children_note("byte %zu of a binary of %zu is %u", at, size, embedded->data[at]);
    }
}

static unsigned do_binary(unsigned long number)
{
    struct embedded embedded = { .data = NULL };
    struct kiln_context *kiln = NULL;
    uint64_t state = number;
    unsigned failures = 0;
    if (!embedded_make(&embedded, number % 2 != 0)) {
        return 0; /* a driver that gives out no binaries */
    }
    damage(&embedded, number, &state);
    const enum kiln_status status = create(&embedded.bundle, &kiln);
    if (status != KILN_SUCCESS) {
        failures += fail(kiln_status_string(status));
    } else {
        if (serves_from_binary(kiln) != (number < 2)) {
            failures += fail(number < 2 ? "the binary is not used" : "a damaged binary is used");
        }
        failures += multiply(kiln);
    }
    kiln_context_destroy(&kiln);
    free(embedded.data);
    return failures;
}

/* ---- Damaged text ---- */

static bool serves_staged(struct kiln_context *kiln)
{
    char text[2048] = "";
    kiln_gemm_explain(kiln, &call, text, sizeof text);
    return strstr(text, "kernel: staged\n") != NULL;
}

/* The first item leaves the text whole; the others change one byte, of one program or of both. */
static unsigned do_text(unsigned long number)
{
    struct kiln_bundle bundle = *staged_bundle();
    struct kiln_context *kiln = NULL;
    uint64_t state = number;
    unsigned failures = 0;
    char *text = malloc(bundle.pool.text_bytes);
    need(text != NULL, "memory");
    memcpy(text, bundle.pool.text, bundle.pool.text_bytes);
    bundle.pool.text = text;
    children_note("a whole text");
    if (number > 0) {
        const size_t at = random_next(&state) % (bundle.pool.text_bytes - 1);
        text[at] ^= (char) (random_next(&state) % 127 + 1);
        children_note("byte %zu of the text is %d", at, text[at]);
    }
    const enum kiln_status status = create(&bundle, &kiln);
    if (status != KILN_SUCCESS) {
        failures += fail(kiln_status_string(status));
    } else {
        const bool is_whole = kiln_pool_is_whole(&bundle.pool, &bundle.programs[0]);
        if (serves_staged(kiln) != is_whole || (number == 0 && !is_whole)) {
            failures += fail(is_whole ? "a whole text is not used" : "a damaged text is used");
        }
        failures += multiply(kiln);
    }
    kiln_context_destroy(&kiln);
    free(text);
    return failures;
}

/* Whether a damaged program is tried; each takes the driver's compiler a while. */
static bool takes_program(const struct options *options, unsigned long number)
{
    return options->whole || number < FIRST_PROGRAMS || number % SHORT_PROGRAMS == 0;
}

static unsigned do_item(const struct options *options, unsigned long number)
{
    open_once(options);
    if (number < NUM_BINARY_ITEMS) {
        return takes_program(options, number) ? do_binary(number) : 0;
    }
    number -= NUM_BINARY_ITEMS;
    if (number < NUM_TEXT_ITEMS) {
        return takes_program(options, number) ? do_text(number) : 0;
    }
    number -= NUM_TEXT_ITEMS;
    return do_byte(options, (unsigned) (number / NUM_BYTES), number % NUM_BYTES);
}

int main(int argc, char **argv)
{
    const struct options options = options_of(argc, argv);
    return children_run(&options, NUM_BINARY_ITEMS + NUM_TEXT_ITEMS + NUM_SOURCES * NUM_BYTES,
            do_item);
}
