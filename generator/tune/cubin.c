/* cubin.c: see cubin.h. No header of CUDA is needed: the few functions and constants of its driver
 * interface stand here. They are pinned: a changed function gets another name. */
#include "cubin.h"
#include "child.h"
#include "clock.h"
#include "interrupt.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, LOG_BYTES = 2048, ARCH_BYTES = 16 };

static const double ptxas_seconds = 300;

/* ---- The driver ---- */

enum {
    CUDA_SUCCESS = 0,
    JIT_ERROR_LOG = 5, JIT_ERROR_LOG_BYTES = 6,                    /* CUjit_option */
    JIT_INPUT_PTX = 1,                                             /* CUjitInputType */
    ATTRIBUTE_PCI_BUS = 33, ATTRIBUTE_PCI_DEVICE = 34, ATTRIBUTE_PCI_DOMAIN = 50,
    ATTRIBUTE_MAJOR = 75, ATTRIBUTE_MINOR = 76
};

/* FUNCTION(name, exported name, parameters) */
#define FUNCTIONS                                                                                 \
    FUNCTION(init, "cuInit", (unsigned flags))                                                    \
    FUNCTION(get_count, "cuDeviceGetCount", (int *num))                                           \
    FUNCTION(get_device, "cuDeviceGet", (int *device, int ordinal))                               \
    FUNCTION(get_attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))      \
    FUNCTION(retain, "cuDevicePrimaryCtxRetain", (void **context, int device))                    \
    FUNCTION(release, "cuDevicePrimaryCtxRelease_v2", (int device))                               \
    FUNCTION(push, "cuCtxPushCurrent_v2", (void *context))                                        \
    FUNCTION(pop, "cuCtxPopCurrent_v2", (void **context))                                         \
    FUNCTION(link_create, "cuLinkCreate_v2",                                                      \
            (unsigned num, int *options, void **values, void **state))                            \
    FUNCTION(link_add, "cuLinkAddData_v2", (void *state, int type, void *data, size_t size,       \
            const char *name, unsigned num, int *options, void **values))                         \
    FUNCTION(link_complete, "cuLinkComplete", (void *state, void **cubin, size_t *size))          \
    FUNCTION(link_destroy, "cuLinkDestroy", (void *state))

struct driver {
    void *library;
    void *context;                     /* the device's primary one, retained; NULL: the driver
                                          makes no cubins */
    int device;
#define FUNCTION(name, exported, parameters) int (*name) parameters;
    FUNCTIONS
#undef FUNCTION
};

struct cubin_maker {
    struct driver driver;
    char ptxas[PATH_BYTES];            /* empty: there is none */
};

static bool find_functions(struct driver *driver)
{
    bool ok = true;
#define FUNCTION(name, exported, parameters)                                                      \
    *(void **) &driver->name = dlsym(driver->library, exported);                                  \
    ok = ok && driver->name;
    FUNCTIONS
#undef FUNCTION
    return ok;
}

static int attribute(const struct driver *driver, int device, int name)
{
    int value = 0;
    return driver->get_attribute(&value, name, device) == CUDA_SUCCESS ? value : -1;
}

static bool is_unit(const struct driver *driver, int device, const char *unit)
{
    char full[48], brief[48];
    const unsigned domain = (unsigned) attribute(driver, device, ATTRIBUTE_PCI_DOMAIN);
    const unsigned bus = (unsigned) attribute(driver, device, ATTRIBUTE_PCI_BUS);
    const unsigned slot = (unsigned) attribute(driver, device, ATTRIBUTE_PCI_DEVICE);
    snprintf(full, sizeof full, "%x:%x:%x.0", domain, bus, slot);
    snprintf(brief, sizeof brief, "%x:%x", bus, slot);
    return !strcmp(unit, full) || !strcmp(unit, brief);
}

/* A device of the capability, if possible the one at the address. */
static bool find_device(struct driver *driver, unsigned capability, const char *unit)
{
    int num = 0, device;
    bool found = false;
    if (driver->get_count(&num) != CUDA_SUCCESS)
        return false;
    for (int i = 0; i < num; i++) {
        if (driver->get_device(&device, i) != CUDA_SUCCESS)
            continue;
        const int major = attribute(driver, device, ATTRIBUTE_MAJOR);
        const int minor = attribute(driver, device, ATTRIBUTE_MINOR);
        if (major < 0 || minor < 0 || (unsigned) (10 * major + minor) != capability)
            continue;
        if (!found || is_unit(driver, device, unit))
            driver->device = device;
        found = true;
    }
    return found;
}

/* The library stays loaded: threads and data of a driver may outlive its last context. */
static void driver_close(struct driver *driver)
{
    if (driver->context)
        driver->release(driver->device);
    *driver = (struct driver){ .library = NULL };
}

static bool driver_open(struct driver *driver, const char *name, unsigned capability,
        const char *unit, char error[CUBIN_ERROR_BYTES])
{
    const char *why = NULL;
    *driver = (struct driver){ .library = dlopen(name, RTLD_NOW | RTLD_LOCAL) };
    if (!driver->library)
        why = "it can not be loaded";
    else if (!find_functions(driver))
        why = "it lacks a function";
    else if (driver->init(0) != CUDA_SUCCESS)
        why = "cuInit fails";
    else if (!find_device(driver, capability, unit))
        why = "it has no device of the compute capability";
    else if (driver->retain(&driver->context, driver->device) != CUDA_SUCCESS) {
        driver->context = NULL;
        why = "it gives no context";
    }
    if (why) {
        snprintf(error, CUBIN_ERROR_BYTES, "%.100s: %s", name, why);
        driver_close(driver);
    }
    return !why;
}

/* ---- What a cubin is ---- */

/* A whole header of an ELF file for NVIDIA's machines. */
static bool is_cubin(const unsigned char *data, size_t size)
{
    enum { HEADER_BYTES = 64, MACHINE = 18, EM_CUDA = 190 };
    return size >= HEADER_BYTES && !memcmp(data, "\177ELF", 4) && data[MACHINE] == EM_CUDA &&
           !data[MACHINE + 1];
}

static unsigned char *copy_cubin(const void *data, size_t size, char error[CUBIN_ERROR_BYTES])
{
    if (!data || !is_cubin(data, size)) {
        snprintf(error, CUBIN_ERROR_BYTES, "what came out is no cubin");
        return NULL;
    }
    unsigned char *copy = malloc(size);
    if (copy)
        memcpy(copy, data, size);
    else
        snprintf(error, CUBIN_ERROR_BYTES, "out of memory");
    return copy;
}

/* ---- By the driver ---- */

/* The first line of a log that is not empty. */
static void tell(const char *what, int code, const char *log, char error[CUBIN_ERROR_BYTES])
{
    log += strspn(log, " \n");
    snprintf(error, CUBIN_ERROR_BYTES, "%s: error %d%s%.*s", what, code, *log ? ": " : "",
            (int) strcspn(log, "\n"), log);
}

static unsigned char *link_ptx(struct driver *driver, const char *ptx, size_t *size,
        char error[CUBIN_ERROR_BYTES])
{
    char log[LOG_BYTES] = "";
    int options[] = { JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES };
    void *values[] = { log, (void *) (uintptr_t) (sizeof log - 1) };
    void *state = NULL, *data = NULL;
    unsigned char *cubin = NULL;
    const char *what = "cuLinkCreate";
    int code = driver->link_create(2, options, values, &state);
    if (code != CUDA_SUCCESS) {
        tell(what, code, log, error);
        return NULL;
    }
    what = "cuLinkAddData";
    code = driver->link_add(state, JIT_INPUT_PTX, (void *) (uintptr_t) ptx, strlen(ptx) + 1, "kiln",
            0, NULL, NULL);
    if (code == CUDA_SUCCESS) {
        what = "cuLinkComplete";
        code = driver->link_complete(state, &data, size);
    }
    if (code == CUDA_SUCCESS)
        cubin = copy_cubin(data, *size, error);
    else
        tell(what, code, log, error);
    driver->link_destroy(state);
    return cubin;
}

static unsigned char *make_by_driver(struct driver *driver, const char *ptx, size_t *size,
        char error[CUBIN_ERROR_BYTES])
{
    void *context;
    const int code = driver->push(driver->context);
    if (code != CUDA_SUCCESS) {
        tell("cuCtxPushCurrent", code, "", error);
        return NULL;
    }
    unsigned char *cubin = link_ptx(driver, ptx, size, error);
    driver->pop(&context);
    return cubin;
}

/* ---- By ptxas ---- */

static bool try_ptxas(const char *folder, int length, char path[PATH_BYTES])
{
    const int bytes = snprintf(path, PATH_BYTES, "%.*s/ptxas", length, folder);
    if (bytes > 0 && bytes < PATH_BYTES && !access(path, X_OK))
        return true;
    path[0] = '\0';
    return false;
}

static bool find_ptxas(const char *given, char path[PATH_BYTES])
{
    const char *folder = getenv("PATH"), *cuda = getenv("CUDA_PATH");
    char bin[PATH_BYTES - 8];
    if (given) {
        const int bytes = snprintf(path, PATH_BYTES, "%s", given);
        return bytes > 0 && bytes < PATH_BYTES && !access(path, X_OK);
    }
    while (folder && *folder) {
        const int length = (int) strcspn(folder, ":");
        if (length && try_ptxas(folder, length, path))
            return true;
        folder += length + (folder[length] == ':');
    }
    if (cuda && snprintf(bin, sizeof bin, "%s/bin", cuda) < (int) sizeof bin &&
            try_ptxas(bin, (int) strlen(bin), path))
        return true;
    return try_ptxas("/usr/local/cuda/bin", (int) strlen("/usr/local/cuda/bin"), path);
}

/* "sm_90a" of ".target sm_90a, texmode_independent". */
static bool find_arch(const char *ptx, char arch[ARCH_BYTES])
{
    const char *at = strstr(ptx, ".target sm_");
    size_t length = 0;
    if (at) {
        at += strlen(".target ");
        length = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    }
    if (length >= ARCH_BYTES)
        length = 0;
    snprintf(arch, ARCH_BYTES, "%.*s", (int) length, at ? at : "");
    return length > 0;
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    const bool ok = file && fputs(text, file) >= 0;
    return file && !fclose(file) && ok;
}

/* All of a file; freed by the caller. */
static unsigned char *read_bytes(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = NULL;
    long length = -1;
    if (file && !fseek(file, 0, SEEK_END) && (length = ftell(file)) > 0 &&
            !fseek(file, 0, SEEK_SET))
        bytes = malloc((size_t) length);
    if (bytes && fread(bytes, 1, (size_t) length, file) != (size_t) length) {
        free(bytes);
        bytes = NULL;
    }
    if (file)
        fclose(file);
    *size = bytes ? (size_t) length : 0;
    return bytes;
}

/* Waits for a process that says nothing of interest until it ends. */
static bool run(char *const *args, char error[CUBIN_ERROR_BYTES])
{
    struct child child;
    char line[CHILD_LINE_BYTES], cause[CHILD_CAUSE_BYTES];
    const double deadline = clock_now() + ptxas_seconds;
    enum heard heard;
    if (!child_start(&child, args)) {
        snprintf(error, CUBIN_ERROR_BYTES, "%.100s does not start", args[0]);
        return false;
    }
    do
        heard = child_hear(&child, deadline, &interrupt_caught, line);
    while (heard == HEARD_LINE);
    if (heard != HEARD_END)
        kill(-child.pid, SIGKILL);
    child_end(&child, cause);
    const bool ok = heard == HEARD_END && !strncmp(cause, "exit 0", 6) &&
                    (cause[6] == '\0' || cause[6] == ':');
    if (!ok)
        snprintf(error, CUBIN_ERROR_BYTES, "ptxas: %.200s", cause);
    return ok;
}

static unsigned char *assemble_in(const char *folder, char *ptxas, const char *ptx, size_t *size,
        char error[CUBIN_ERROR_BYTES])
{
    char from[PATH_BYTES], to[PATH_BYTES], arch[ARCH_BYTES], option[ARCH_BYTES + 8];
    char dash_o[] = "-o";
    unsigned char *cubin = NULL, *bytes = NULL;
    snprintf(from, sizeof from, "%s/kiln.ptx", folder);
    snprintf(to, sizeof to, "%s/kiln.cubin", folder);
    if (!find_arch(ptx, arch))
        snprintf(error, CUBIN_ERROR_BYTES, "the PTX names no target");
    else if (!write_text(from, ptx))
        snprintf(error, CUBIN_ERROR_BYTES, "%.200s can not be written", from);
    else {
        snprintf(option, sizeof option, "-arch=%s", arch);
        char *const args[] = { ptxas, option, dash_o, to, from, NULL };
        if (run(args, error)) {
            bytes = read_bytes(to, size);
            cubin = copy_cubin(bytes, *size, error);
        }
    }
    free(bytes);
    unlink(from);
    unlink(to);
    return cubin;
}

static unsigned char *assemble(char *ptxas, const char *ptx, size_t *size,
        char error[CUBIN_ERROR_BYTES])
{
    const char *parent = getenv("TMPDIR");
    char folder[PATH_BYTES - 32];
    if (snprintf(folder, sizeof folder, "%s/kiln-cubin-XXXXXX",
                parent && *parent ? parent : "/tmp") >= (int) sizeof folder ||
            !mkdtemp(folder)) {
        snprintf(error, CUBIN_ERROR_BYTES, "no temporary folder can be made");
        return NULL;
    }
    unsigned char *cubin = assemble_in(folder, ptxas, ptx, size, error);
    rmdir(folder);
    return cubin;
}

/* A signal that is to end the process does so when the files are gone. */
static unsigned char *make_by_ptxas(char *ptxas, const char *ptx, size_t *size,
        char error[CUBIN_ERROR_BYTES])
{
    struct interrupt interrupt;
    interrupt_defer(&interrupt);
    unsigned char *cubin = assemble(ptxas, ptx, size, error);
    interrupt_end(&interrupt);
    return cubin;
}

/* ---- The interface ---- */

struct cubin_maker *cubin_open(const struct cubin_tools *tools, unsigned capability,
        const char *unit, char error[CUBIN_ERROR_BYTES])
{
    struct cubin_maker *maker = calloc(1, sizeof *maker);
    if (!maker) {
        snprintf(error, CUBIN_ERROR_BYTES, "out of memory");
        return NULL;
    }
    const char *libcuda = tools && tools->libcuda ? tools->libcuda : "libcuda.so.1";
    const bool has_driver = driver_open(&maker->driver, libcuda, capability, unit, error);
    const bool has_ptxas = find_ptxas(tools ? tools->ptxas : NULL, maker->ptxas);
    if (!has_ptxas)
        maker->ptxas[0] = '\0';
    if (!has_driver && !has_ptxas) {
        const size_t length = strlen(error);
        snprintf(error + length, CUBIN_ERROR_BYTES - length, "; and there is no ptxas");
        free(maker);
        return NULL;
    }
    return maker;
}

void cubin_close(struct cubin_maker *maker)
{
    if (maker)
        driver_close(&maker->driver);
    free(maker);
}

enum cubin_tool cubin_first(const struct cubin_maker *maker)
{
    return !maker ? CUBIN_BY_NONE : maker->driver.context ? CUBIN_BY_DRIVER : CUBIN_BY_PTXAS;
}

unsigned char *cubin_make_by(struct cubin_maker *maker, enum cubin_tool tool, const char *ptx,
        size_t *size, char error[CUBIN_ERROR_BYTES])
{
    unsigned char *cubin = NULL;
    snprintf(error, CUBIN_ERROR_BYTES, "what is to make it is not there");
    if (tool == CUBIN_BY_DRIVER && maker->driver.context)
        cubin = make_by_driver(&maker->driver, ptx, size, error);
    else if (tool == CUBIN_BY_PTXAS && maker->ptxas[0])
        cubin = make_by_ptxas(maker->ptxas, ptx, size, error);
    if (!cubin)
        *size = 0;
    return cubin;
}

unsigned char *cubin_make(struct cubin_maker *maker, const char *ptx, size_t *size,
        char error[CUBIN_ERROR_BYTES])
{
    const enum cubin_tool first = cubin_first(maker);
    unsigned char *cubin = cubin_make_by(maker, first, ptx, size, error);
    if (!cubin && first == CUBIN_BY_DRIVER && maker->ptxas[0])
        cubin = cubin_make_by(maker, CUBIN_BY_PTXAS, ptx, size, error);
    return cubin;
}

char *cubin_ptx_of(const void *data, size_t size)
{
    const char *bytes = data;
    while (size && !bytes[size - 1])
        size--;
    char *text = memchr(bytes, '\0', size) ? NULL : malloc(size + 1);
    if (text) {
        memcpy(text, bytes, size);
        text[size] = '\0';
        if (strstr(text, ".target sm_"))
            return text;
    }
    free(text);
    return NULL;
}

bool cubin_needs_its_driver(const char *ptx)
{
    return strstr(ptx, "%envreg") != NULL;
}
