/* program.h: the text of kernels as code of this machine. */
#ifndef KILN_TESTS_WARPS_PROGRAM_H
#define KILN_TESTS_WARPS_PROGRAM_H

#include <stdbool.h>

enum { PROGRAM_MOST_ARGUMENTS = 32 };

/* A kernel. Its arguments are handed over by their addresses; for a pointer to memory that is the
 * address of the pointer. */
struct program_kernel {
    void (*call)(const void *const *arguments);
    bool is_memory[PROGRAM_MOST_ARGUMENTS];
    unsigned num_arguments;
};

/* Finds the kernel in a program's text, which is compiled the first time. Ends the program with a
 * message where that fails. */
struct program_kernel program_find(const char *text, const char *name);

#endif
