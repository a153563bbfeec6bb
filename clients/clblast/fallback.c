/* fallback.c: CLBlast itself, if it is installed.
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

struct places {
    void *wanted, *usual; /* NULL: there is no such library */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *open_once(void *handle, const char *file, int mode)
{
    return handle == NULL && file != NULL ? dlopen(file, RTLD_LAZY | RTLD_LOCAL | mode) : handle;
}

/* The libraries that are loaded; where it may load, all that can be, which is tried once. */
static struct places open_places(int may_load)
{
    static struct places places;
    static bool is_tried;
    const char *wanted = secure_getenv("KILN_CLBLAST_FALLBACK");
    wanted = wanted != NULL && *wanted != '\0' ? wanted : NULL;
    pthread_mutex_lock(&lock);
    if (!is_tried) {
        const int mode = may_load ? 0 : RTLD_NOLOAD;
        places.wanted = open_once(places.wanted, wanted, mode);
        if (may_load && wanted != NULL && places.wanted == NULL) {
            fprintf(stderr, "kiln-clblast: KILN_CLBLAST_FALLBACK is ignored: %s\n", dlerror());
        }
        places.usual = open_once(places.usual, "libclblast.so.1", mode);
        is_tried = may_load;
    }
    const struct places found = places;
    pthread_mutex_unlock(&lock);
    return found;
}

/* NULL: there is no such function, or it is this library's own, or its library is not known. */
static void *find(void *handle, const char *name)
{
    Dl_info own, found;
    void *address = dlsym(handle, name);
    const bool is_others = address != NULL && dladdr((void *) &lock, &own) != 0 &&
                           dladdr(address, &found) != 0 && own.dli_fbase != found.dli_fbase;
    return is_others ? address : NULL;
}

kiln_clblast_function kiln_clblast_fallback(const char *name, int may_load)
{
    kiln_clblast_function function = NULL;
    const struct places places = open_places(may_load);
    void *const handles[] = { places.wanted, RTLD_NEXT, places.usual };
    for (int i = 0; i < 3 && function == NULL; i++) {
        /* NULL as a handle would mean the program. */
        *(void **) &function = handles[i] != NULL ? find(handles[i], name) : NULL; /* as in POSIX */
    }
    return function;
}
