/* fallback.c: CLBlast itself, where it is there.
 *
 * It is what KILN_CLBLAST_FALLBACK names, or what the program has loaded behind this library, or
 * libclblast.so.1. A link of that name to this library is not it: a function of this library's own
 * is never taken.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr, RTLD_NEXT, secure_getenv */
#endif
#include "kiln_clblast.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

_Thread_local int kiln_clblast_is_passed_on;

static void *handles[2]; /* NULL: there is no such library */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_all(void)
{
    const char *wanted = secure_getenv("KILN_CLBLAST_FALLBACK");
    if (wanted != NULL && *wanted != '\0') {
        handles[0] = dlopen(wanted, RTLD_LAZY | RTLD_LOCAL);
        if (handles[0] == NULL) {
            fprintf(stderr, "kiln-clblast: KILN_CLBLAST_FALLBACK is ignored: %s\n", dlerror());
        }
    }
    handles[1] = dlopen("libclblast.so.1", RTLD_LAZY | RTLD_LOCAL);
}

/* NULL: there is no such function, or it is this library's own. */
static void *find(void *handle, const char *name)
{
    Dl_info own, found;
    void *address = dlsym(handle, name);
    const bool is_own = address != NULL && dladdr((void *) &once, &own) != 0 &&
                        dladdr(address, &found) != 0 && own.dli_fbase == found.dli_fbase;
    return is_own ? NULL : address;
}

kiln_clblast_function kiln_clblast_fallback(const char *name)
{
    kiln_clblast_function function = NULL;
    pthread_once(&once, open_all);
    void *const places[] = { handles[0], RTLD_NEXT, handles[1] };
    for (int i = 0; i < 3 && function == NULL; i++) {
        /* NULL as a handle would mean the program. */
        *(void **) &function = places[i] != NULL ? find(places[i], name) : NULL; /* as in POSIX */
    }
    return function;
}
