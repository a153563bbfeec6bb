/* options.c: reads the command line. An option is one row of option_rows, from which the help text
 * is printed as well. */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "peers.h"

enum {
    OPTIONS_ERROR_SIZE = 512,
    OPTIONS_ROUNDS = 9,
    OPTIONS_SAMPLE_MS = 20,
    OPTIONS_SIZE = 256,
    OPTIONS_SEED = 1,
    OPTIONS_COUNT = 40,
    OPTIONS_K = 1024,
    OPTIONS_MOST_K = 16777216
};

struct option_row {
    const char *name;
    const char *argument;              /* NULL: takes none */
    bool (*read)(struct options *options, const char *text);       /* NULL: it sets the mode */
    const char *help;                  /* lines separated by \n */
    enum mode mode;
};

/* Writes the shape reader's message. */
static bool options_shapes(bool (*add)(struct shapes *, const char *, char *, size_t),
        struct options *options, const char *text)
{
    char error[OPTIONS_ERROR_SIZE];

    if (!add(&options->shapes, text, error, sizeof(error))) {
        fprintf(stderr, "kiln-bench: %s\n", error);
        return false;
    }
    return true;
}

static bool options_read_shapes(struct options *options, const char *text)
{
    if (strcmp(text, "random") == 0) {
        options->random.wanted = true;
        return true;
    }
    if (strcmp(text, "batches") == 0) {
        options->random.batches = true;
        return true;
    }
    if (strcmp(text, "grid") == 0) {
        options->grid.wanted = true;
        return true;
    }
    return options_shapes(shapes_add_named, options, text);
}

static bool options_read_shape(struct options *options, const char *text)
{
    return options_shapes(shapes_add_text, options, text);
}

static bool options_read_shapes_file(struct options *options, const char *text)
{
    options->failed = !options_shapes(shapes_add_file, options, text);
    return !options->failed;
}

static bool options_bad(const char *text, const char *wanted)
{
    fprintf(stderr, "kiln-bench: '%s' is not %s\n", text, wanted);
    return false;
}

static bool options_add_precision(struct options *options, enum kiln_precision precision)
{
    for (size_t i = 0; i < options->num_precisions; i++) {
        if (options->precisions[i] == precision) {
            return true;
        }
    }
    options->precisions[options->num_precisions++] = precision;
    return true;
}

static bool options_read_precision(struct options *options, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        const struct precision *precision = precision_find((char[]){ *at, '\0' });

        if (precision != NULL && precision->id != KILN_ID_EMULATED) {
            options_add_precision(options, (enum kiln_precision) precision->id);
        } else if (*at != ',') {
            return options_bad(text, "a list of s, d, h, c and z");
        }
    }
    return true;
}

static void options_add_transpose(struct options *options, bool a, bool b)
{
    for (size_t i = 0; i < options->num_transposes; i++) {
        if (options->transposes[i].a == a && options->transposes[i].b == b) {
            return;
        }
    }
    options->transposes[options->num_transposes].a = a;
    options->transposes[options->num_transposes++].b = b;
}

static bool options_read_transpose(struct options *options, const char *text)
{
    const char *at = text;

    while (*at != '\0') {
        if (strspn(at, "nt") != 2 || (at[2] != ',' && at[2] != '\0')) {
            return options_bad(text, "a list of nn, nt, tn and tt");
        }
        options_add_transpose(options, at[0] == 't', at[1] == 't');
        at += at[2] == ',' ? 3 : 2;
    }
    return true;
}

static bool options_read_number(const char *text, unsigned long min, unsigned long max,
        size_t *number)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < min || value > max || text[0] == '-') {
        fprintf(stderr, "kiln-bench: '%s' is not a number from %lu to %lu\n", text, min, max);
        return false;
    }
    *number = (size_t) value;
    return true;
}

static bool options_read_rounds(struct options *options, const char *text)
{
    return options_read_number(text, 1, 10000, &options->rounds);
}

static bool options_read_sample_ms(struct options *options, const char *text)
{
    size_t milliseconds;

    if (!options_read_number(text, 1, 10000, &milliseconds)) {
        return false;
    }
    options->min_seconds = 1e-3 * (double) milliseconds;
    return true;
}

static bool options_read_seed(struct options *options, const char *text)
{
    options->random.drawing = "--seed";
    return options_read_number(text, 0, 4294967295, &options->random.seed);
}

static bool options_read_count(struct options *options, const char *text)
{
    options->random.drawing = "--count";
    return options_read_number(text, 1, 100000, &options->random.count);
}

static bool options_read_largest(struct options *options, const char *text)
{
    return options_read_number(text, DRAW_LARGEST_LEAST, DRAW_LARGEST_MOST,
            &options->random.limits.largest);
}

static bool options_read_k(struct options *options, const char *text)
{
    options->grid.needing = "--k";
    return options_read_number(text, 1, OPTIONS_MOST_K, &options->grid.k);
}

/* As people write it: 30000000, 3e7. */
static bool options_read_ops(const char *text, uint64_t *ops)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value >= DRAW_LEAST_OPS && value <= DRAW_MOST_OPS)) {
        return options_bad(text, "a number of operations from 1000 to 1e15");
    }
    *ops = (uint64_t) value;
    return true;
}

static bool options_read_least_ops(struct options *options, const char *text)
{
    options->random.needing = "--least-ops";
    return options_read_ops(text, &options->random.limits.least_ops);
}

static bool options_read_most_ops(struct options *options, const char *text)
{
    options->random.needing = "--most-ops";
    return options_read_ops(text, &options->random.limits.most_ops);
}

static bool options_read_best(struct options *options, const char *text)
{
    (void) text;
    options->best = true;
    return true;
}

static bool options_read_size(struct options *options, const char *text)
{
    return options_read_number(text, 1, 1024, &options->size);
}

static bool options_read_peers(struct options *options, const char *text)
{
    options->peers = text;
    return peers_are_built(text);
}

static bool options_read_device(struct options *options, const char *text)
{
    options->device = text;
    return true;
}

static bool options_read_device_clock(struct options *options, const char *text)
{
    (void) text;
    options->device_clock = true;
    return true;
}

static bool options_read_json(struct options *options, const char *text)
{
    options->json = text;
    return true;
}

static bool options_read_data(struct options *options, const char *text)
{
    for (size_t i = 0; i < data_num_kinds; i++) {
        if (data_kinds[i].is_finite && strcmp(data_kinds[i].name, text) == 0) {
            options->data = &data_kinds[i];
            return true;
        }
    }
    fprintf(stderr, "kiln-bench: no data '%s':", text);
    for (size_t i = 0; i < data_num_kinds; i++) {
        fprintf(stderr, "%s%s", data_kinds[i].is_finite ? " " : "",
                data_kinds[i].is_finite ? data_kinds[i].name : "");
    }
    fprintf(stderr, "\n");
    return false;
}

static const struct option_row option_rows[] = {
    {"--shapes", "NAME", options_read_shapes,
        "add a named list: goals, squares, skinny, deep, small, odd, all, hopper,\n"
        "corners, random, batches, or grid (default: goals, when no shape is given)"},
    {"--shape", "MxNxK", options_read_shape, "add one shape"},
    {"--shapes-file", "FILE", options_read_shapes_file,
        "add the shapes of a file, one \"M N K\" or \"MxNxK\" a line, with a precision and\n"
        "transposes of its own and a batch behind it or not: \"64 64 64 half nt batch=100\";\n"
        "# starts a comment"},
    {"--seed", "N", options_read_seed, "of random shapes and batches (default: 1)"},
    {"--count", "N", options_read_count, "how many of these (default: 40)"},
    {"--least-ops", "N", options_read_least_ops,
        "least operations of a random shape (default: 3e7 on a CPU, else 1e6)"},
    {"--most-ops", "N", options_read_most_ops,
        "most operations of a random shape (default: 1e10 on a CPU, else 5e11)"},
    {"--largest", "N", options_read_largest,
        "largest extent of a random shape, an eighth of the deepest K, or of a grid\n"
        "(default: 4096 on a CPU, else 8192)"},
    {"--k", "N", options_read_k,
        "K of the grid, of which M and N are all powers of two from 16 (default: 1024)"},
    {"--precision", "LIST", options_read_precision,
        "of s, d, h, c, z (default: s,d; of a shape in a file, its own if it names one)"},
    {"--transpose", "LIST", options_read_transpose, "of nn, nt, tn, tt\n"
        "(default: nn; of a random shape, a pair of its own; likewise in a file)"},
    {"--peers", "LIST", options_read_peers,
        "compare only these (default: all that are built in and meant for the device)"},
    {"--data", "NAME", options_read_data,
        "what A and B hold in single precision: one of the kinds that --errors shows\n"
        "(default: uniform random numbers)"},
    {"--best", NULL, options_read_best,
        "time every recipe of the bundle beside what Kiln chooses, and show what that loses"},
    {"--rounds", "N", options_read_rounds, "samples of each peer, interleaved (default: 9)"},
    {"--sample-ms", "N", options_read_sample_ms, "least length of a sample (default: 20)"},
    {"--device", "TEXT", options_read_device,
        "the first device whose name contains TEXT (default: the first)"},
    {"--device-clock", NULL, options_read_device_clock,
        "time batches, by the device's own clock and the wall clock, on a CPU too"},
    {"--json", "FILE", options_read_json, "write everything, each sample included, to FILE"},
    {"--host-overhead", NULL, NULL,
        "instead: what a warm call costs the host beyond the launches themselves",
        MODE_HOST_OVERHEAD},
    {"--first-result", NULL, NULL,
        "instead: time to the first result of a fresh process, driver caches empty",
        MODE_FIRST_RESULT},
    {"--errors", NULL, NULL,
        "instead: errors of all elements of C in single precision, on data of every kind",
        MODE_ERRORS},
    {"--triangles", NULL, NULL,
        "instead: rates where one triangle of C is stored, or of A, beside a whole product;\n"
        "of square matrices alone", MODE_TRIANGLES},
    {"--size", "N", options_read_size, "extent of the matrices of --first-result (default: 256)"},
    {"--list-peers", NULL, NULL, "print the peers and whether each is there", MODE_LIST_PEERS},
    {"--list-shapes", NULL, NULL, "print the named lists of shapes", MODE_LIST_SHAPES},
    {"--help", NULL, NULL, "print this", MODE_HELP},
    {"--version", NULL, NULL, "print the version", MODE_VERSION},
};
enum { NUM_OPTION_ROWS = sizeof(option_rows) / sizeof(option_rows[0]) };

static const struct option_row *options_find(const char *argument, size_t length)
{
    for (size_t i = 0; i < NUM_OPTION_ROWS; i++) {
        if (strlen(option_rows[i].name) == length &&
                strncmp(option_rows[i].name, argument, length) == 0) {
            return &option_rows[i];
        }
    }
    return NULL;
}

/* Is something measured in place of a comparison? */
static bool options_measure_else(enum mode mode)
{
    return mode != MODE_COMPARE && mode < MODE_LIST_PEERS;
}

/* One thing is measured at a time; what only prints goes before that, the first of several. */
static bool options_set_mode(struct options *options, const struct option_row *row)
{
    if (options_measure_else(options->mode) && options_measure_else(row->mode) &&
            options->mode != row->mode) {
        fprintf(stderr, "kiln-bench: %s measures another thing than what was asked for before\n",
                row->name);
        return false;
    }
    if (options->mode < MODE_LIST_PEERS) {
        options->mode = row->mode;
    }
    return true;
}

/* Reads the option at argv[*at], in either form, --name VALUE or --name=VALUE, and moves behind. */
static bool options_read(struct options *options, int argc, char **argv, int *at)
{
    const char *argument = argv[(*at)++];
    size_t length = strcspn(argument, "=");
    const struct option_row *row = options_find(argument, length);
    bool has_value = argument[length] == '=';

    if (row == NULL || (has_value && row->argument == NULL)) {
        fprintf(stderr, "kiln-bench: unknown argument '%s' (see --help)\n", argument);
        return false;
    }
    if (row->read == NULL) {
        return options_set_mode(options, row);
    }
    if (row->argument == NULL) {
        return row->read(options, NULL);
    }
    const char *value = has_value ? argument + length + 1 : *at < argc ? argv[(*at)++] : NULL;
    /* An empty text is in every device's name. */
    if (value == NULL || (value[0] == '\0' && row->read != options_read_device)) {
        fprintf(stderr, "kiln-bench: %s needs %s\n", row->name, row->argument);
        return false;
    }
    return row->read(options, value);
}

/* What shapes are compared in that name a precision comes last, for them alone. */
static void options_add_own_precisions(struct options *options)
{
    options->num_common = options->num_precisions;
    for (size_t i = 0; i < options->shapes.count && !options->has_precisions; i++) {
        if (options->shapes.items[i].precision != 0) {
            options_add_precision(options, options->shapes.items[i].precision);
        }
    }
}

static bool options_has_batches(const struct options *options)
{
    bool has = options->random.batches;

    for (size_t i = 0; i < options->shapes.count; i++) {
        has = has || options->shapes.items[i].batch > 1;
    }
    return has;
}

/* Whether there are the shapes that other options are for. */
static bool options_fit(const struct options *options)
{
    if (!options->random.wanted && !options->random.batches && options->random.drawing != NULL) {
        fprintf(stderr, "kiln-bench: %s is for --shapes random or batches\n",
                options->random.drawing);
        return false;
    }
    if (!options->random.wanted && options->random.needing != NULL) {
        fprintf(stderr, "kiln-bench: %s is for --shapes random\n", options->random.needing);
        return false;
    }
    if (!options->grid.wanted && options->grid.needing != NULL) {
        fprintf(stderr, "kiln-bench: %s is for --shapes grid\n", options->grid.needing);
        return false;
    }
    if (!options->random.wanted && !options->grid.wanted && options->random.limits.largest != 0) {
        fprintf(stderr, "kiln-bench: --largest is for --shapes random or grid\n");
        return false;
    }
    if (options_has_batches(options) &&
            (options->data != NULL || options_measure_else(options->mode))) {
        fprintf(stderr, "kiln-bench: batches are for comparisons, of uniform random numbers\n");
        return false;
    }
    if (options->best && options_measure_else(options->mode)) {
        fprintf(stderr, "kiln-bench: --best is for comparisons, and another thing is measured\n");
        return false;
    }
    return true;
}

bool options_parse(struct options *options, int argc, char **argv)
{
    *options = (struct options){
        .rounds = OPTIONS_ROUNDS,
        .min_seconds = 1e-3 * OPTIONS_SAMPLE_MS,
        .size = OPTIONS_SIZE,
        .random = { .seed = OPTIONS_SEED, .count = OPTIONS_COUNT },
        .grid = { .k = OPTIONS_K },
        .arguments = (const char *const *) argv + 1,
        .num_arguments = argc > 0 ? (size_t) argc - 1 : 0,
    };
    for (int at = 1; at < argc;) {
        if (!options_read(options, argc, argv, &at)) {
            return false;
        }
    }
    if (!options_fit(options)) {
        return false;
    }
    options->has_precisions = options->num_precisions > 0;
    options->has_transposes = options->num_transposes > 0;
    if (options->num_precisions == 0) {
        options_read_precision(options, "s,d");
    }
    if (options->num_transposes == 0) {
        options_read_transpose(options, "nn");
    }
    options_add_own_precisions(options);
    return options->shapes.count > 0 || options->random.wanted || options->random.batches ||
           options->grid.wanted || options_read_shapes(options, "goals");
}

/* 1 GiB for A, B and C in double precision, or in complex double where that is asked for; or what
 * the device has. */
static uint64_t options_most_elements(const struct options *options, const struct device *device)
{
    size_t widest = sizeof(double);

    uint64_t bytes = (uint64_t) 1 << 30;

    bytes = device->most_buffer_bytes < bytes ? device->most_buffer_bytes : bytes;
    bytes = device->memory_bytes / 4 < bytes ? device->memory_bytes / 4 : bytes;
    for (size_t i = 0; i < options->num_precisions; i++) {
        size_t element = kiln_element_bytes(options->precisions[i]);

        widest = element > widest ? element : widest;
    }
    return bytes / widest;
}

bool options_draw(struct options *options, const struct device *device)
{
    struct draw_limits *limits = &options->random.limits;
    char error[OPTIONS_ERROR_SIZE];

    limits->least_ops = limits->least_ops != 0 ? limits->least_ops
                      : device->is_cpu         ? UINT64_C(30000000)
                                               : UINT64_C(1000000);
    limits->most_ops = limits->most_ops != 0 ? limits->most_ops
                     : device->is_cpu        ? UINT64_C(10000000000)
                                             : UINT64_C(500000000000);
    limits->largest = limits->largest != 0 ? limits->largest : device->is_cpu ? 4096 : 8192;
    limits->most_elements = options_most_elements(options, device);
    bool good = !options->random.wanted ||
                shapes_add_drawn(&options->shapes, limits, options->random.seed,
                        options->random.count, error, sizeof(error));

    good = good &&
           (!options->random.batches || shapes_add_batches(&options->shapes, options->random.seed,
                                                options->random.count, error, sizeof(error)));
    good = good && (!options->grid.wanted || shapes_add_grid(&options->shapes, limits,
                                                     options->grid.k, error, sizeof(error)));
    if (!good) {
        fprintf(stderr, "kiln-bench: %s\n", error);
    }
    return good;
}

void options_free(struct options *options)
{
    shapes_free(&options->shapes);
}

static void options_print_row(FILE *out, const struct option_row *row)
{
    char left[64];
    const char *text = row->help;

    snprintf(left, sizeof(left), "%s%s%s", row->name, row->argument != NULL ? " " : "",
            row->argument != NULL ? row->argument : "");
    while (true) {
        int length = (int) strcspn(text, "\n");

        fprintf(out, "  %-20s %.*s\n", left, length, text);
        if (text[length] == '\0') {
            return;
        }
        text += length + 1;
        left[0] = '\0';
    }
}

void options_print_help(FILE *out)
{
    fprintf(out,
            "usage: kiln-bench [OPTION ...]\n\n"
            "Compares the speed of Kiln with that of other libraries. The peers are OpenBLAS\n"
            "(with its own and with the best core type), CLBlast, cuBLAS and Kiln's generic\n"
            "bundle, in one run: for each shape they take turns, round by round; a sample is\n"
            "repeated until it is long enough; the table shows medians over the rounds and\n"
            "ratios of medians. Every result is checked before anything is timed. What is not\n"
            "a CPU is timed by its own clock; a second table has the wall clock.\n\n");
    for (size_t i = 0; i < NUM_OPTION_ROWS; i++) {
        options_print_row(out, &option_rows[i]);
    }
    fprintf(out, "\nExit status: 0 on success, 1 on failure (a peer that fails or multiplies\n"
                 "wrongly is one), 2 on wrong usage.\n");
}
