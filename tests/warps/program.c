/* program.c: see program.h. The text is written to a file with these changes, and compiled by Clang
 * as OpenCL C for this machine:
 *   - a function that holds inline PTX is left out, and local_address; what calls it calls
 *     warp_NAME of warp.c
 *   - what PTX stands in kernels themselves, and barriers with a number, are given to warp_inline
 *   - behind the kernels stand functions call_NAME, which take the addresses of arguments */
#define _GNU_SOURCE
#include "program.h"
#include "core/text.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PROGRAMS = 4096, MOST_NAME = 128, PATH_BYTES = 64 };

/* Texts that were compiled, and what became of them. */
static struct {
    char *text;
    void *object;
} programs[MOST_PROGRAMS];
static unsigned num_programs;

static void fail(const char *what, const char *of)
{
    fprintf(stderr, "warps: %s: %s\n", what, of);
    exit(1);
}

/* ---- Functions of the text ---- */

/* The word that ends right before a place. */
static void word_before(const char *begin, const char *end, char word[MOST_NAME])
{
    while (end > begin && isspace((unsigned char) end[-1]))
        end--;
    const char *from = end;
    while (from > begin && (isalnum((unsigned char) from[-1]) || from[-1] == '_'))
        from--;
    snprintf(word, MOST_NAME, "%.*s", (int) (end - from), from);
}

/* The number behind what stands in a function by which there are several of it; NULL: there is
 * one. */
static const char *number_in(const char *body, const char *end)
{
    static const char *const marks[] = { "elemtype.shared::cta.b1024.b32 [%0], ", "(cols - col) * ",
        "cp.async.ca.shared.global [%0], [%1], ", "cp.async.cg.shared.global [%0], [%1], " };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = strstr(body, marks[i]);
        if (at && at < end)
            return at + strlen(marks[i]);
    }
    return NULL;
}

/* The high word of the next descriptor: N, or two bits at its top and N. Returns where it is, or
 * NULL. */
static const char *next_high(const char *text, unsigned long long *high)
{
    const char *at = text ? strstr(text, "\"l\"((") : NULL;
    unsigned long long top = 0;
    if (at && sscanf(at, "\"l\"((%lluUL << 30 | %llu) << 32", &top, high) == 2)
        *high |= top << 30;
    else if (at && sscanf(at, "\"l\"((ulong) %llu << 32", high) != 1)
        at = NULL;
    return at;
}

/* wgmma: what warp_group_multiply is told beside the function's own arguments; false: it is
 * another one. Behind the operands stands whether c is added to, and which of A and B lie across;
 * of A in registers nothing is said. */
static bool add_group_multiply(struct text *out, const char *name, const char *body,
        const char *end)
{
    static const char wgmma[] = "wgmma.mma_async.sync.aligned.m64n";
    const char *columns = strstr(body, wgmma), *numbers = columns ? strstr(columns, ";\" :") : NULL;
    unsigned long long high[2];
    const char *first = next_high(numbers, &high[0]);
    const char *second = first ? next_high(first + 1, &high[1]) : NULL;
    int adds, a_is_across, b_is_across;
    if (!columns || columns > end)
        return false;
    while (numbers && *numbers != '%')
        numbers--;
    const int num = numbers ? sscanf(numbers, "%%%*d, %d, 1, 1, %d, %d", &adds, &a_is_across,
                                      &b_is_across)
                            : 0;
    if (num < 2 || !first || (num == 3 && !second))
        fail("not understood", name);
    text_add(out, "#define %s(c, a, b) warp_group_multiply", name);
    if (num == 3)
        text_add(out, "(c, a, b, %d, %d, %d, %d, %llu, %llu)\n", atoi(columns + strlen(wgmma)),
                adds, a_is_across, b_is_across, high[0], high[1]);
    else
        text_add(out, "_registers(c, a, b, %d, %d, %d, %llu)\n", atoi(columns + strlen(wgmma)),
                adds, a_is_across, high[0]);
    return true;
}

/* A function that is there in warp.c: its declaration, under a name of its own. */
static void add_declaration(struct text *out, const char *head, const char *body, const char *end)
{
    char name[MOST_NAME];
    word_before(head, strchr(head, '('), name);
    static const char any[] = "bar.red.or.pred all, 1, ";
    const char *wait = strstr(body, "wait_group "), *workers = strstr(body, any);
    const char *doubles = strstr(head, "double c");
    const bool of_doubles = doubles && doubles < body;
    if (add_group_multiply(out, name, body, end))
        return;
    if (wait && wait < end) {
        text_add(out, "void warp_%s(uint);\n#define %s() warp_%s(%d)\n", name, name, name,
                atoi(wait + strlen("wait_group ")));
        return;
    }
    if (workers && workers < end) {
        text_add(out, "uint warp_%s(uint, uint);\n#define %s(x) warp_%s(x, %d)\n", name, name, name,
                atoi(workers + strlen(any)));
        return;
    }
    const char *number = number_in(body, end);
    text_add(out, "#define %s warp_%s%s", name, name, of_doubles ? "_of_doubles" : "");
    if (number)
        text_add(out, "_%d", atoi(number));
    text_add(out, "\n%.*s;\n", (int) (body - head), head);
}

/* Copies the text up to the first kernel or its end; functions with inline PTX are declared. */
static void add_changed(struct text *out, const char *text)
{
    static const char begin[] = "\nstatic ", asm_word[] = "asm";
    static const char barrier[] = "asm volatile(\"bar.sync ", address[] = "uint local_address(";
    const char *at = text;
    for (const char *next; (next = strstr(at, begin));) {
        const char *body = strstr(next + 1, "\n{"), *end = strstr(next + 1, "\n}\n");
        const char *ptx = body ? strstr(body, asm_word) : NULL;
        const bool is_address = !strncmp(next + strlen(begin), address, strlen(address));
        if (!body || !end)
            break;
        text_add(out, "%.*s\n", (int) (next - at), at);
        const char *head = next + strlen(begin);
        if (is_address || (ptx && ptx < end && strncmp(ptx, barrier, strlen(barrier))))
            add_declaration(out, head, body, end);
        else
            text_add(out, "static %.*s\n}\n", (int) (end - head), head);
        at = end + 2;
    }
    text_add(out, "%s\n", at);
}

/* ---- Kernels of the text ---- */

/* The head of a kernel: behind its name's bracket. NULL: there is none of this name. */
static const char *find_head(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, "__kernel")); at++) {
        const char *bracket = strstr(at, "\nvoid ");
        if (bracket && !strncmp(bracket + 6, name, length) && bracket[6 + length] == '(')
            return bracket + 6 + length + 1;
    }
    return NULL;
}

/* The type of the argument at a place, without its name; returns what is behind it. */
static const char *read_argument(const char *at, char type[MOST_NAME], bool *is_memory)
{
    char name[MOST_NAME], *restricted;
    const size_t length = strcspn(at, ",)");
    *is_memory = memchr(at, '*', length);
    word_before(at, at + length, name);
    snprintf(type, MOST_NAME, "%.*s", (int) (length - strlen(name)), at);
    if ((restricted = strstr(type, "restrict")))
        memset(restricted, ' ', strlen("restrict"));
    return at + length;
}

static struct program_kernel read_kernel(const char *head, struct text *call)
{
    struct program_kernel kernel = { .num_arguments = 0 };
    char type[MOST_NAME];
    for (const char *at = head; *at && kernel.num_arguments < PROGRAM_MOST_ARGUMENTS; at++) {
        const unsigned i = kernel.num_arguments++;
        at = read_argument(at, type, &kernel.is_memory[i]);
        if (call)
            text_add(call, "%s*(%s__private *) arguments[%u]", i ? ", " : "", type, i);
        if (*at != ',')
            break;
    }
    return kernel;
}

static void add_calls(struct text *out, const char *text)
{
    text_add(out, "#undef __local\n");
    for (const char *at = text; (at = strstr(at, "__kernel")); at++) {
        const char *name = strstr(at, "\nvoid ");
        if (!name)
            return;
        name += 6;
        const int length = (int) strcspn(name, "(");
        text_add(out, "void call_%.*s(void *const *arguments)\n{\n    %.*s(", length, name, length,
                name);
        read_kernel(name + length + 1, out);
        text_add(out, ");\n}\n");
    }
}

/* ---- Compiling ---- */

static void compile(const char *source, const char *object)
{
    const char *const arguments[] = { WARPS_CLANG, "-x", "cl", "-cl-std=CL1.2", "-Xclang",
        "-finclude-default-header", "-include", WARPS_HEADER, "-O1", "-w", "-fPIC", "-shared",
        "-nostdlib", "-ffp-contract=on", source, "-o", object, NULL };
    int status = 1;
    const pid_t child = fork();
    if (child == 0) {
        execv(WARPS_CLANG, (char *const *) arguments);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        fail("Clang does not compile", source);
}

static void *load(const char *text)
{
    char folder[PATH_BYTES] = "/tmp/warps-XXXXXX", source[PATH_BYTES + 8], object[PATH_BYTES + 8];
    struct text out = { .bytes = NULL };
    if (!mkdtemp(folder))
        fail("no folder can be made", folder);
    snprintf(source, sizeof source, "%s/k.cl", folder);
    snprintf(object, sizeof object, "%s/k.so", folder);
    text_add(&out, "#define asm\n#define volatile(...) warp_inline(#__VA_ARGS__)\n");
    add_changed(&out, text);
    add_calls(&out, text);
    FILE *file = out.bytes ? fopen(source, "w") : NULL;
    if (!file || fputs(out.bytes, file) < 0 || fclose(file))
        fail("cannot be written", source);
    compile(source, object);
    void *loaded = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!loaded)
        fail("not loaded", dlerror());
    remove(source);
    remove(object);
    rmdir(folder);
    text_free(&out);
    return loaded;
}

static void *object_of(const char *text)
{
    for (unsigned i = 0; i < num_programs; i++)
        if (!strcmp(programs[i].text, text))
            return programs[i].object;
    if (num_programs == MOST_PROGRAMS)
        fail("too many programs", "");
    programs[num_programs].text = strdup(text);
    programs[num_programs].object = load(text);
    return programs[num_programs++].object;
}

struct program_kernel program_find(const char *text, const char *name)
{
    char symbol[MOST_NAME + 8];
    const char *head = find_head(text, name);
    if (!head)
        fail("no such kernel", name);
    struct program_kernel kernel = read_kernel(head, NULL);
    snprintf(symbol, sizeof symbol, "call_%s", name);
    *(void **) &kernel.call = dlsym(object_of(text), symbol);
    if (!kernel.call)
        fail("no such function", symbol);
    return kernel;
}
