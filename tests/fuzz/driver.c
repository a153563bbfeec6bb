/* driver.c: runs a fuzz target as an ordinary test, without libFuzzer.
 *
 *   fuzz_NAME [-n RUNS] [FILE...]
 *
 * Each seed (fuzz_seeds and the files) runs as it is, then RUNS mutations of the seeds. The random
 * numbers start from a constant: a failure comes back with the next run. Build with
 * -fsanitize=address,undefined, which turn a wrong access into a failed test.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_RUNS = 20000, MAX_SEEDS = 64, MAX_INPUT_BYTES = 1 << 14, MAX_MUTATIONS = 6 };

struct input {
    uint8_t *data;
    size_t size;
};

static struct input seeds[MAX_SEEDS];
static size_t num_seeds;

static uint64_t random_state = 0x9e3779b97f4a7c15u;

/* xorshift64: a number below `bound`, or 0. */
static size_t random_below(size_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return bound ? (size_t) (random_state % bound) : 0;
}

static void die(const char *what, const char *which)
{
    fprintf(stderr, "fuzz driver: %s: %s\n", what, which);
    exit(2);
}

static void add_seed(const void *data, size_t size, const char *name)
{
    if (num_seeds == MAX_SEEDS)
        die("too many seeds", name);
    if (size > MAX_INPUT_BYTES)
        size = MAX_INPUT_BYTES;
    uint8_t *copy = malloc(size + 1);
    if (!copy)
        die("out of memory", name);
    memcpy(copy, data, size);
    seeds[num_seeds++] = (struct input) { copy, size };
}

static void add_file(const char *path)
{
    static uint8_t data[MAX_INPUT_BYTES];
    FILE *file = fopen(path, "rb");
    if (!file)
        die("cannot open", path);
    size_t size = fread(data, 1, sizeof data, file);
    if (ferror(file))
        die("cannot read", path);
    fclose(file);
    add_seed(data, size, path);
}

static void remove_range(struct input *in)
{
    size_t at = random_below(in->size);
    size_t len = random_below(in->size - at < 32 ? in->size - at + 1 : 32);
    memmove(in->data + at, in->data + at + len, in->size - at - len);
    in->size -= len;
}

static void insert(struct input *in, const uint8_t *bytes, size_t len)
{
    size_t at = random_below(in->size + 1);
    if (len > MAX_INPUT_BYTES - in->size)
        len = MAX_INPUT_BYTES - in->size;
    memmove(in->data + at + len, in->data + at, in->size - at);
    memcpy(in->data + at, bytes, len);
    in->size += len;
}

/* A piece of some seed, at times many times over, so that nesting gets deep. */
static void insert_piece(struct input *in)
{
    const struct input *seed = &seeds[random_below(num_seeds)];
    size_t at = random_below(seed->size);
    size_t len = random_below(seed->size - at < 24 ? seed->size - at + 1 : 24);
    size_t times = random_below(8) ? 1 : random_below(200);
    for (size_t i = 0; i < times; i++)
        insert(in, seed->data + at, len);
}

static void insert_number(struct input *in)
{
    static const char *const numbers[] = {
        "0", "-1", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "1e99",
    };
    const char *number = numbers[random_below(sizeof numbers / sizeof numbers[0])];
    insert(in, (const uint8_t *) number, strlen(number));
}

static void mutate(struct input *in)
{
    switch (random_below(6)) {
    case 0:
        if (in->size)
            in->data[random_below(in->size)] ^= (uint8_t) (1u << random_below(8));
        break;
    case 1:
        if (in->size)
            in->data[random_below(in->size)] = (uint8_t) random_below(256);
        break;
    case 2:
        remove_range(in);
        break;
    case 3:
        insert_number(in);
        break;
    case 4:
        in->size = random_below(8) ? in->size : random_below(in->size + 1);
        break;
    default:
        insert_piece(in);
        break;
    }
}

/* Runs a copy of exactly the input's size, so that a read behind its end is seen. */
static void run(const struct input *in)
{
    uint8_t *copy = malloc(in->size ? in->size : 1);
    if (!copy)
        die("out of memory", "input");
    memcpy(copy, in->data, in->size);
    LLVMFuzzerTestOneInput(copy, in->size);
    free(copy);
}

static void run_mutations(size_t runs)
{
    static uint8_t buffer[MAX_INPUT_BYTES];
    for (size_t i = 0; i < runs; i++) {
        const struct input *seed = &seeds[random_below(num_seeds)];
        struct input in = { buffer, seed->size };
        memcpy(buffer, seed->data, seed->size);
        for (size_t n = 1 + random_below(MAX_MUTATIONS); n > 0; n--)
            mutate(&in);
        run(&in);
    }
}

int main(int argc, char **argv)
{
    size_t runs = DEFAULT_RUNS;
    for (size_t i = 0; fuzz_seeds[i]; i++)
        add_seed(fuzz_seeds[i], strlen(fuzz_seeds[i]), fuzz_seeds[i]);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-n") == 0 && i + 1 < argc)
            runs = strtoul(argv[++i], NULL, 10);
        else
            add_file(argv[i]);
    }
    if (num_seeds == 0)
        die("no seeds", argv[0]);
    for (size_t i = 0; i < num_seeds; i++)
        run(&seeds[i]);
    run_mutations(runs);
    for (size_t i = 0; i < num_seeds; i++)
        free(seeds[i].data);
    printf("%zu seeds and %zu mutations of them\n", num_seeds, runs);
    return 0;
}
