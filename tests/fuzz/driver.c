/* driver.c: runs a fuzz target as an ordinary test, without libFuzzer.
 *
 *   fuzz_NAME [--runs N | --forever] [--seed S] [FILE | FOLDER]...
 *
 * Each seed (fuzz_seeds, the files, and those of the folders in the order of their names) runs as
 * it is, then N mutations of the seeds run. The random numbers depend on S alone: a failure comes
 * back with the next run. Build with -fsanitize=address,undefined, which turn a wrong access into a
 * failure. The input of a failure, or of what was going on when SIGTERM ended it, is written to
 * fuzz_NAME.input in the current folder.
 */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DEFAULT_RUNS = 20000, MAX_SEEDS = 256, MAX_INPUT_BYTES = 1 << 14, MAX_MUTATIONS = 6,
    NUM_MUTATIONS = 9, RUNS_PER_LINE = 1 << 20
};

struct input {
    uint8_t *data;
    size_t size;
};

static struct input seeds[MAX_SEEDS];
static size_t num_seeds, num_words;
static uint64_t random_state;

/* ---- Failures ---- */

static struct input current; /* what the target is being given */
static const char *program;
static char saved_path[256];

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(2);
}

/* Only what is safe in a signal handler. */
static void save_input(void)
{
    static volatile sig_atomic_t has_saved;
    if (has_saved || !current.data)
        return;
    has_saved = 1;
    const int fd = open(saved_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const bool whole = fd >= 0 && write(fd, current.data, current.size) == (ssize_t) current.size;
    say(whole ? "\nfuzz driver: the input is in " : "\nfuzz driver: no input can be written to ");
    say(saved_path);
    say("; to repeat: ");
    say(program);
    say(" --runs 0 ");
    say(saved_path);
    say("\n");
}

/* The sanitizers ask for these: what they find ends in SIGABRT. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
    return "abort_on_error=1";
}

const char *__ubsan_default_options(void)
{
    return "abort_on_error=1";
}

static void on_signal(int number)
{
    save_input();
    signal(number, SIG_DFL);
    raise(number);
}

static void prepare_to_fail(char *path)
{
    const char *slash = strrchr(path, '/');
    program = path;
    snprintf(saved_path, sizeof saved_path, "%.200s.input", slash ? slash + 1 : path);
    signal(SIGABRT, on_signal);
    signal(SIGTERM, on_signal);
}

static void die(const char *what, const char *which)
{
    fprintf(stderr, "fuzz driver: %s: %s\n", what, which);
    exit(2);
}

/* ---- Seeds ---- */

static void add_seed(const void *data, size_t size, const char *name)
{
    if (num_seeds == MAX_SEEDS)
        die("too many seeds", name);
    uint8_t *copy = malloc(size + 1);
    if (!copy)
        die("out of memory", name);
    memcpy(copy, data, size);
    seeds[num_seeds++] = (struct input){ copy, size };
}

static void add_file(const char *path)
{
    static uint8_t data[MAX_INPUT_BYTES + 1];
    FILE *file = fopen(path, "rb");
    if (!file)
        die("cannot open", path);
    const size_t size = fread(data, 1, sizeof data, file);
    if (ferror(file))
        die("cannot read", path);
    if (size > MAX_INPUT_BYTES)
        die("longer than 16384 bytes", path);
    fclose(file);
    add_seed(data, size, path);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* A file, or each file of a folder. */
static void add_path(const char *path)
{
    struct dirent **entries;
    char file[4096];
    const int num = scandir(path, &entries, is_visible, alphasort);
    if (num < 0)
        add_file(path);
    for (int i = 0; i < num; i++) {
        if (snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name) >= (int) sizeof file)
            die("too long a path", path);
        add_file(file);
        free(entries[i]);
    }
    if (num >= 0)
        free(entries);
}

/* ---- Mutations ---- */

/* xorshift64: a number below `bound`, or 0. */
static size_t random_below(size_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return bound ? (size_t) (random_state % bound) : 0;
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
        "0",
        "-1",
        "2147483648",
        "4294967296",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616",
        "1e99",
        "nan",
    };
    const char *number = numbers[random_below(sizeof numbers / sizeof numbers[0])];
    insert(in, (const uint8_t *) number, strlen(number));
}

static void insert_word(struct input *in)
{
    if (!num_words)
        return;
    const char *word = fuzz_words[random_below(num_words)];
    insert(in, (const uint8_t *) word, strlen(word));
}

/* The beginning of this input and the end of some seed. */
static void splice(struct input *in)
{
    const struct input *seed = &seeds[random_below(num_seeds)];
    const size_t from = random_below(seed->size + 1);
    size_t len = seed->size - from;
    in->size = random_below(in->size + 1);
    if (len > MAX_INPUT_BYTES - in->size)
        len = MAX_INPUT_BYTES - in->size;
    memcpy(in->data + in->size, seed->data + from, len);
    in->size += len;
}

/* A line of the input once more, somewhere after another line. */
static void repeat_line(struct input *in)
{
    uint8_t line[1024];
    size_t from = random_below(in->size), to = from, at = random_below(in->size);
    while (from > 0 && in->data[from - 1] != '\n')
        from--;
    while (to < in->size && in->data[to++] != '\n')
        ;
    while (at > 0 && in->data[at - 1] != '\n')
        at--;
    const size_t len = to - from < sizeof line ? to - from : sizeof line;
    if (len > MAX_INPUT_BYTES - in->size)
        return;
    memcpy(line, in->data + from, len);
    memmove(in->data + at + len, in->data + at, in->size - at);
    memcpy(in->data + at, line, len);
    in->size += len;
}

static void mutate(struct input *in)
{
    switch (random_below(NUM_MUTATIONS)) {
    case 0:
        if (in->size)
            in->data[random_below(in->size)] ^= (uint8_t) (1u << random_below(8));
        break;
    case 1:
        if (in->size)
            in->data[random_below(in->size)] = (uint8_t) random_below(256);
        break;
    case 2: remove_range(in); break;
    case 3: insert_number(in); break;
    case 4: in->size = random_below(8) ? in->size : random_below(in->size + 1); break;
    case 5: insert_word(in); break;
    case 6:
        if (!random_below(4))
            splice(in);
        break;
    case 7: repeat_line(in); break;
    default: insert_piece(in); break;
    }
}

/* ---- Runs ---- */

/* Runs a copy of exactly the input's size, so that a read behind its end is seen. */
static void run(const struct input *in)
{
    uint8_t *copy = malloc(in->size ? in->size : 1);
    if (!copy)
        die("out of memory", "input");
    memcpy(copy, in->data, in->size);
    current = *in;
    LLVMFuzzerTestOneInput(copy, in->size);
    current.data = NULL;
    free(copy);
}

static void run_mutations(size_t runs, bool forever)
{
    static uint8_t buffer[MAX_INPUT_BYTES];
    for (size_t i = 0; forever || i < runs; i++) {
        const struct input *seed = &seeds[random_below(num_seeds)];
        struct input in = { buffer, seed->size };
        memcpy(buffer, seed->data, seed->size);
        for (size_t n = 1 + random_below(MAX_MUTATIONS); n > 0; n--)
            mutate(&in);
        run(&in);
        if (forever && (i + 1) % RUNS_PER_LINE == 0) {
            printf("%zu mutations\n", i + 1);
            fflush(stdout);
        }
    }
}

static unsigned long long number_of(const char *text)
{
    char *end;
    const unsigned long long number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end)
        die("not a number", text);
    return number;
}

int main(int argc, char **argv)
{
    size_t runs = DEFAULT_RUNS;
    bool forever = false;
    uint64_t seed = 1;
    prepare_to_fail(argv[0]);
    for (size_t i = 0; fuzz_seeds[i]; i++)
        add_seed(fuzz_seeds[i], strlen(fuzz_seeds[i]), fuzz_seeds[i]);
    while (fuzz_words[num_words])
        num_words++;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--forever"))
            forever = true;
        else if (!strcmp(argv[i], "--runs") && i + 1 < argc)
            runs = (size_t) number_of(argv[++i]);
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            seed = number_of(argv[++i]);
        else if (argv[i][0] == '-')
            die("unexpected option", argv[i]);
        else
            add_path(argv[i]);
    }
    if (num_seeds == 0)
        die("no seeds", argv[0]);
    random_state = (seed + 1) * 0x9e3779b97f4a7c15u | 1;
    for (size_t i = 0; i < num_seeds; i++)
        run(&seeds[i]);
    run_mutations(runs, forever);
    for (size_t i = 0; i < num_seeds; i++)
        free(seeds[i].data);
    printf("%zu seeds and %zu mutations of them\n", num_seeds, runs);
    return 0;
}
