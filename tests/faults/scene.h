/* scene.h: one public call at a time, with all that it needs around it, and what the header
 * promises of it when something fails. */
#ifndef KILN_TESTS_SCENE_H
#define KILN_TESTS_SCENE_H

#include "setup.h"
#include "wrap.h"

enum { SCENE_MEMBERS = 3, SCENE_TEXT = 4096, SCENE_QUESTIONS = 3 };

/* Which bundle, and how the call is made. */
struct scene_setting {
    const char *bundle_name;
    const struct kiln_bundle *bundle;
    size_t m, n, k;
    bool loose;                        /* on an out-of-order queue */
    bool listed;                       /* with a wait list and an event */
    bool warm;                         /* not the first call */
    bool splits;                       /* writes C in two stages: undefined when the call fails */
};

/* What a call would do, by kiln_gemm_explain: in single, double and half precision; and the bytes
 * that it wants in single precision. */
struct scene_plans {
    char text[SCENE_QUESTIONS][SCENE_TEXT];
    size_t workspace_bytes, pack_bytes;
};

struct scene {
    const struct setup *setup;
    const struct scene_setting *setting;
    const struct scene_plans *plans;   /* as they are when nothing fails */
    cl_command_queue queue;
    struct kiln_context *kiln;
    struct kiln_gemm gemm;
    cl_mem workspace, room;
    float *before, *wanted;            /* C, all members */
    size_t num_elements;
    cl_event gate, done;
    bool was_faulty;                   /* the call to be checked: another kernel may have served */
    /* What the call gives out. */
    struct kiln_pack pack, brought;
    size_t bytes;
    char text[SCENE_TEXT];
};

/* A public call. `check` judges what it gave out, and gives the number of failures. */
struct scene_kind {
    const char *name;
    unsigned stride;                   /* the short form fails one in so many of its calls */
    bool creates;                      /* the context */
    bool tells;                        /* which kernels serve: `check` wants those of the plans */
    void (*prepare)(struct scene *scene);          /* NULL: nothing */
    enum kiln_status (*act)(struct scene *scene);
    unsigned (*check)(struct scene *scene, enum kiln_status status);
};

enum { SCENE_PLAIN_CALL = 4 }; /* kiln_gemm_enqueue */
extern const struct scene_kind scene_kinds[];
extern const size_t num_scene_kinds;

void scene_plans_make(const struct setup *setup, const struct scene_setting *setting,
        struct scene_plans *plans);

/* What is there before the call, and after it: C as it was. */
void scene_open(struct scene *scene, const struct setup *setup, const struct scene_setting *setting,
        const struct scene_plans *plans, const struct scene_kind *kind);
void scene_rewind(struct scene *scene);
void scene_close(struct scene *scene);

/* Opens the gate that a listed call waits at, and waits until the queue is empty. */
void scene_settle(struct scene *scene);

#endif
