/* platform.h: what is known of a platform by its name. Shared with the generator. */
#ifndef KILN_PLATFORM_H
#define KILN_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* May a glob, or a plain name, stand for a platform that compiles kernels by LLVM in the
 * application's process, and ends that process where the compiler fails? Which kernels it takes
 * depends on the version of the driver, so bundles must name it. */
static inline bool kiln_compiles_in_process(const char *platform)
{
    static const char names[][32] = {
        "Portable Computing Language",
        "rusticl",
        "Clover",
        "Oclgrind",
    };
    const size_t length = strcspn(platform, "*");
    for (size_t i = 0; platform[0] != '\0' && i < sizeof names / sizeof names[0]; i++) {
        if (strncmp(names[i], platform, length) == 0 &&
                (platform[length] != '\0' || names[i][length] == '\0')) {
            return true;
        }
    }
    return false;
}

#endif
