/* peer_cublas_load.c: loads the module with the peer cublas, which lies beside the program, when
 * the peer takes part in a run. CUDA's libraries are large, and are not everywhere. */
#include "peers.h"

#include <dlfcn.h>

bool peer_cublas_load(struct peer *peer, const struct peer_setup *setup)
{
    void *module = dlopen(CUBLAS_MODULE, RTLD_NOW | RTLD_LOCAL);
    bool (*open)(struct peer *, const struct peer_setup *) = NULL;

    if (module != NULL) {
        *(void **) &open = dlsym(module, "peer_cublas_open");
    }
    if (open == NULL) {
        fprintf(stderr, "kiln-bench: cublas: %s; --peers chooses others\n", dlerror());
        return false;
    }
    return open(peer, setup);
}
