/* setup.h: what the tests of this folder share: a device, buffers, contexts, child processes. */
#ifndef KILN_TESTS_SETUP_H
#define KILN_TESTS_SETUP_H

#include "internal.h"

enum { EXIT_USAGE = 2, EXIT_NO_DEVICE = 77 };

struct options {
    const char *device;                /* substring of the name; "": any */
    bool whole;                        /* not the short form for the suite */
    unsigned long only;                /* number of an item, counted from 1; 0: all */
};

/* Ends the program when the arguments are wrong. */
struct options options_of(int argc, char **argv);

struct setup {
    cl_device_id device;
    cl_context cl;
    cl_command_queue queue;            /* in order */
    cl_command_queue loose;            /* out of order, where the device can */
};

/* Ends the program, with EXIT_NO_DEVICE or EXIT_FAILURE, when that can not be had. */
void setup_open(const struct options *options, struct setup *setup);
void setup_close(struct setup *setup);

/* Ends the program with a message when a thing that is no matter of the test does not work. */
void need(bool good, const char *what);

/* `values` may be NULL. */
cl_mem setup_buffer(const struct setup *setup, size_t bytes, const void *values);
void setup_read(const struct setup *setup, cl_mem buffer, size_t bytes, void *values);
/* NULL for the linked bundles. */
struct kiln_context *setup_kiln(const struct setup *setup, const struct kiln_bundle *bundle);

/* A bundle of one recipe of another, which there is for every kind of device. */
struct solo {
    struct kiln_bundle bundle;
    struct kiln_recipe recipe;
};
void solo_make(struct solo *solo, const struct kiln_bundle *of, uint32_t recipe);

/* A linked bundle by its name. */
const struct kiln_bundle *linked_bundle(const char *name);

/* The recipes of the linked bundles, in one row. False: there are no more. */
bool linked_recipe(unsigned long number, const struct kiln_bundle **bundle, uint32_t *recipe);
unsigned long num_linked_recipes(void);

/* Whether the short form takes that recipe: every fifth, so that all transpose pairs come. */
bool is_taken(const struct options *options, unsigned long number);

/* A call with alpha of 1 that the recipe takes, as near to the extents as its guard lets it;
 * leading dimensions have at least `pad` elements beyond a row. */
struct kiln_gemm recipe_call(const struct kiln_recipe *recipe, const size_t extents[3], size_t pad);
/* Whether it is the recipe that serves the call. */
bool recipe_serves(const struct kiln_recipe *recipe, struct kiln_context *kiln,
        const struct kiln_gemm *gemm);

/* An element of a precision, from and to a double that it holds exactly or nearly. */
void element_set(enum kiln_precision precision, void *matrix, size_t index, double value);
double element_get(enum kiln_precision precision, const void *matrix, size_t index);

/* ---- children.c ---- */

/* Does items 0 to num - 1 in child processes: one that dies is a failure of the item that it was
 * at, and the next child goes on behind it. OpenCL must not have been used before. Gives the exit
 * status of the program. `item` gives the number of its failures, which it has printed. */
int children_run(const struct options *options, unsigned long num,
        unsigned (*item)(const struct options *options, unsigned long number));
/* Says what the child is at, for the message when it dies. */
void children_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *children_noted(void);

#endif
