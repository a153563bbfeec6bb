/* fallback.c: the BLAS library behind this one.
 *
 * Its functions are looked up by its own handle, so that they are not this library's, whatever
 * order the program was linked in. Where it lacks one, the function is taken that the program would
 * have called without this library.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr, RTLD_NEXT */
#endif
#include "blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static const char *const symbols[KILN_BLAS_NUM_NAMES] = {
#define GEMM(name, precision, scalar, hermitian) \
    [KILN_BLAS_##name] = #name "_", [KILN_BLAS_cblas_##name] = "cblas_" #name,
#define SYMM GEMM
#define SYRK GEMM
#include "routines.inc"
};

static kiln_blas_function functions[KILN_BLAS_NUM_NAMES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

const char *kiln_blas_symbol(enum kiln_blas_name name)
{
    return symbols[name];
}

/* NULL: there is no such function, or it is this library's own. */
static void *find(void *handle, const char *symbol)
{
    Dl_info own, found;
    void *address = dlsym(handle, symbol);
    const bool is_own = address != NULL && dladdr(symbols, &own) != 0 &&
                        dladdr(address, &found) != 0 && own.dli_fbase == found.dli_fbase;
    return is_own ? NULL : address;
}

/* NULL: the library can not stand behind this one. */
static void *open_library(const char *file)
{
    void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL) {
        kiln_blas_say("the fallback is ignored: %s", dlerror());
    } else if (find(handle, symbols[KILN_BLAS_dgemm]) == NULL) {
        kiln_blas_say("the fallback is ignored: %s has no dgemm_ of its own", file);
        handle = NULL;
    }
    return handle;
}

static void find_all(void)
{
    const char *wanted = kiln_blas_settings()->fallback;
    void *handles[] = { wanted != NULL ? open_library(wanted) : NULL,
        open_library(KILN_BLAS_FALLBACK_FILE), RTLD_NEXT };
    for (int name = 0; name < KILN_BLAS_NUM_NAMES; name++) {
        void *address = NULL;
        for (int i = 0; i < 3 && address == NULL; i++) {
            /* NULL as a handle would mean the program. */
            address = handles[i] != NULL ? find(handles[i], symbols[name]) : NULL;
        }
        *(void **) &functions[name] = address; /* as in POSIX */
    }
}

kiln_blas_function kiln_blas_fallback(enum kiln_blas_name name)
{
    pthread_once(&once, find_all);
    if (functions[name] == NULL) {
        kiln_blas_say("no BLAS library behind this one has %s: the program ends", symbols[name]);
        abort();
    }
    return functions[name];
}
