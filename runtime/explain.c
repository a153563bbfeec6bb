/* explain.c: questions about a call, answered by the same search that the call itself makes. */
#include "internal.h"

static void add_fact(struct kiln_text *text, const char *key, const char *value)
{
    kiln_text_add(text, key);
    kiln_text_add(text, ": ");
    kiln_text_add(text, value);
    kiln_text_add(text, "\n");
}

static void add_number(struct kiln_text *text, const char *before, size_t number)
{
    kiln_text_add(text, before);
    kiln_text_add_number(text, number);
}

static void add_shape(struct kiln_text *text, const char *key, size_t m, size_t n, size_t k)
{
    kiln_text_add(text, key);
    add_number(text, ": m=", m);
    add_number(text, " n=", n);
    add_number(text, " k=", k);
}

/* Of a call that allows emulation. */
static const char *arithmetic(const struct kiln_context *context, const struct kiln_choice *choice)
{
    if (!context->has_emulation) {
        return "native: no bundle has emulation for the device";
    }
    return choice != NULL && choice->plan.recipe->precision == KILN_EMULATED
            ? "emulated" : "native, though emulation is allowed";
}

/* In canonical form: a column-major call shows up with m and n swapped. choice: NULL when nothing
 * is multiplied. */
static void add_problem(struct kiln_text *text, const struct kiln_context *context,
        const struct kiln_problem *problem, const struct kiln_choice *choice)
{
    const struct kiln_product *product = &problem->product;
    const unsigned precision = kiln_precision_of_call(product->precision);
    add_fact(text, "precision", kiln_precision_find(precision)->name);
    if (problem->wants_emulation) {
        add_fact(text, "arithmetic", arithmetic(context, choice));
    }
    add_shape(text, "shape", product->m, product->n, product->k);
    kiln_text_add(text, product->conja ? " transa=C" : product->transa ? " transa=T" : " transa=N");
    kiln_text_add(text, product->conjb ? " transb=C" : product->transb ? " transb=T" : " transb=N");
    if (product->batch_count > 1) {
        add_number(text, " batch=", product->batch_count);
    }
    kiln_text_add(text, "\n");
}

static void add_packs(struct kiln_text *text, const struct kiln_problem *problem)
{
    if (problem->bound != 0) {
        kiln_text_add(text, "packed:");
        for (unsigned operand = KILN_PREPARED_A; operand < KILN_NUM_PREPARED; operand++) {
            bool is_here = (problem->bound & operand) != 0;
            kiln_text_add(text, !is_here ? "" : operand == KILN_PREPARED_A ? " A" : " B");
            bool is_copy = is_here && (problem->places.packed & operand) == 0;
            kiln_text_add(text, is_copy ? " (a copy)" : "");
        }
        kiln_text_add(text, "\n");
    }
}

static void add_stage(struct kiln_text *text, const struct kiln_plan *plan, unsigned index)
{
    const struct kiln_stage *stage = &plan->recipe->stages[index];
    add_number(text, "stage ", index);
    kiln_text_add(text, ": ");
    kiln_text_add(text, stage->entry);
    kiln_text_add(text, " groups=");
    for (unsigned d = 0; d < stage->work_dim; d++) {
        add_number(text, d > 0 ? "x" : "", plan->groups[index][d]);
    }
    kiln_text_add(text, " local=");
    for (unsigned d = 0; d < stage->work_dim; d++) {
        add_number(text, d > 0 ? "x" : "", stage->local[d]);
    }
    kiln_text_add(text, "\n");
}

static void add_stages(struct kiln_text *text, const struct kiln_plan *plan)
{
    for (unsigned i = 0; i < plan->recipe->num_stages; i++) {
        if (kiln_stage_is_needed(plan->recipe, i, plan->ready) &&
            !kiln_stage_is_empty(plan, i)) {
            add_stage(text, plan, i);
        }
    }
}

/* own: of a complex problem, what comes before the real product that the choice is for; NULL. */
static void add_choice(struct kiln_text *text, const struct kiln_context *context,
        const struct kiln_problem *problem, const struct kiln_choice *own,
        const struct kiln_choice *choice)
{
    const struct kiln_link *link = &context->links[choice->link];
    const struct kiln_bundle *bundle = link->bundle;
    const struct kiln_plan *plan = &choice->plan;
    bool from_binary = link->programs[plan->recipe->program].from_binary;
    add_fact(text, "bundle", bundle->name);
    add_fact(text, "kernel", plan->recipe->name);
    if (link->is_relative) {
        kiln_text_add(text, "tuned on: a relative of the device");
        kiln_text_add(text, bundle->match.device != NULL ? ", " : "");
        kiln_text_add(text, bundle->match.device != NULL ? bundle->match.device : "");
        kiln_text_add(text, "\n");
    }
    add_problem(text, context, problem, choice);
    add_packs(text, problem);
    add_fact(text, "program", from_binary ? "binary" : "source");
    add_fact(text, "indices", plan->recipe->index_bits == 32 ? "32 bits" : "64 bits");
    if (own != NULL) {
        const struct kiln_link *first = &context->links[own->link];
        kiln_text_add(text, "first: ");
        kiln_text_add(text, own->plan.recipe->name);
        add_fact(text, ", bundle", first->bundle->name);
        add_stages(text, &own->plan);
        kiln_text_add(text, choice != own ? "then: a real product\n" : "");
    }
    if (choice != own) {
        add_stages(text, plan);
    }
    add_number(text, "workspace: ", plan->workspace_bytes +
            (own != NULL && own != choice ? own->plan.workspace_bytes : 0));
    kiln_text_add(text, " bytes\n");
    if (bundle->provenance != NULL) {
        add_fact(text, "provenance", bundle->provenance);
    }
}

static const char *const fit_words[] = {
    [KILN_FITS] = "",
    [KILN_FIT_NOT_FOR_DEVICE] = " (not for the device)",
    [KILN_FIT_GUARD] = " (not for such leading dimensions and offsets)",
    [KILN_FIT_INDICES] = " (its 32-bit indices are too short)",
    [KILN_FIT_WORKSPACE] = " (its workspace is too large)",
};

/* Microseconds with two digits behind the point. */
static void add_time(struct kiln_text *text, uint64_t picoseconds)
{
    const uint64_t hundredths = picoseconds / 10000;
    const uint64_t whole = hundredths / 100;
    kiln_text_add_number(text, whole < SIZE_MAX ? (size_t)whole : SIZE_MAX);
    add_number(text, ".", (size_t)(hundredths / 10 % 10));
    add_number(text, "", (size_t)(hundredths % 10));
    kiln_text_add(text, " us");
}

/* The recipes that come first in the order of the choice's bundle, and what is wrong with them. */
static void add_candidates(struct kiln_text *text, struct kiln_context *context,
        const struct kiln_problem *problem, const struct kiln_choice *choice)
{
    struct kiln_link *link = &context->links[choice->link];
    const struct kiln_bundle *bundle = link->bundle;
    struct kiln_rank ranks[KILN_RANKED];
    unsigned num = kiln_rank(bundle, link->left_out, &problem->product,
            context->facts.compute_units, NULL, ranks);
    for (unsigned i = 0; i < num; i++) {
        const struct kiln_rank *rank = &ranks[i];
        kiln_text_add(text, "candidate: ");
        if (rank->time == KILN_RANK_PINNED) {
            kiln_text_add(text, "pinned");
        } else if (rank->time == KILN_RANK_UNTIMED) {
            kiln_text_add(text, "not timed");
        } else {
            add_time(text, rank->time - 1);
        }
        kiln_text_add(text, ", ");
        kiln_text_add(text, bundle->recipes[rank->recipe].name);
        struct kiln_plan plan;
        const enum kiln_fit fit = kiln_fit_of(context, problem, choice->link, rank->recipe, &plan);
        kiln_text_add(text, fit_words[fit]);
        kiln_text_add(text, fit == KILN_FITS && kiln_recipe_is_refused(link, rank->recipe)
                ? " (the driver refused it)" : "");
        kiln_text_add(text, rank->recipe == choice->recipe ? " (chosen)\n" : "\n");
    }
}

static void add_nothing(struct kiln_text *text, const struct kiln_context *context,
        const struct kiln_problem *problem)
{
    add_fact(text, "bundle", context->links[0].bundle->name);
    add_fact(text, "kernel", "none: C stays as it is");
    add_problem(text, context, problem, NULL);
}

/* The recipe of a complex problem, and the real one that it leaves. */
static enum kiln_status split(struct kiln_context *context, const struct kiln_problem *problem,
        struct kiln_choice *own, struct kiln_problem *real)
{
    enum kiln_status status = kiln_search_first(context, problem, own);
    return status == KILN_SUCCESS ? kiln_complex_split(context, problem, &own->plan, real) : status;
}

/* A recipe that can not be built for the moment may serve the call in the end: what is told does
 * for it as well. `before` is what the real product of a complex one finds taken. */
static enum kiln_status most_workspace(struct kiln_context *context,
        const struct kiln_problem *problem, size_t before, size_t *bytes)
{
    struct kiln_search search = {0};
    struct kiln_choice choice;
    enum kiln_status first = KILN_SUCCESS, status = KILN_SUCCESS;
    size_t most = 0;
    while (kiln_search_next(context, problem, &search, &choice, &status)) {
        most = choice.plan.workspace_bytes > most ? choice.plan.workspace_bytes : most;
        if (status == KILN_SUCCESS) {
            return kiln_add(before, most, bytes) ? KILN_SUCCESS : KILN_SIZE_OVERFLOW;
        }
        first = first == KILN_SUCCESS ? status : first;
    }
    return first == KILN_SUCCESS ? kiln_search_failure(problem) : first;
}

enum kiln_status kiln_gemm_workspace_bytes(struct kiln_context *context,
        const struct kiln_gemm *gemm, size_t *bytes)
{
    struct kiln_problem problem, real;
    struct kiln_choice own;
    if (bytes != NULL) {
        *bytes = 0;
    }
    if (context == NULL || gemm == NULL || bytes == NULL) {
        return KILN_INVALID_ARGUMENT;
    }
    enum kiln_status status = kiln_problem_make(context, gemm, KILN_CHECK_SHAPE, &problem);
    if (status != KILN_SUCCESS || problem.is_nothing) {
        return status;
    }
    if (!kiln_precision_is_complex(problem.product.precision)) {
        return most_workspace(context, &problem, 0, bytes);
    }
    status = split(context, &problem, &own, &real);
    if (status == KILN_SUCCESS && real.is_nothing) {
        *bytes = own.plan.workspace_bytes;
    } else if (status == KILN_SUCCESS) {
        status = most_workspace(context, &real, own.plan.workspace_bytes, bytes);
    }
    return status;
}

static enum kiln_status explain_complex(struct kiln_text *text, struct kiln_context *context,
        const struct kiln_problem *problem)
{
    struct kiln_problem real;
    struct kiln_choice own, choice;
    enum kiln_status status = split(context, problem, &own, &real);
    if (status == KILN_SUCCESS && real.is_nothing) {
        add_choice(text, context, problem, &own, &own);
    } else if (status == KILN_SUCCESS) {
        status = kiln_search_first(context, &real, &choice);
        if (status == KILN_SUCCESS) {
            add_choice(text, context, problem, &own, &choice);
            if (problem->bound == 0) {
                add_candidates(text, context, &real, &choice);
            }
        }
    }
    return status;
}

static enum kiln_status explain_choice(struct kiln_text *text, struct kiln_context *context,
        const struct kiln_problem *problem)
{
    struct kiln_choice choice;
    if (kiln_precision_is_complex(problem->product.precision)) {
        return explain_complex(text, context, problem);
    }
    enum kiln_status status = kiln_search_first(context, problem, &choice);
    if (status == KILN_SUCCESS) {
        add_choice(text, context, problem, NULL, &choice);
        if (problem->bound == 0) {
            add_candidates(text, context, problem, &choice);
        }
    }
    return status;
}

enum kiln_status kiln_gemm_explain(struct kiln_context *context, const struct kiln_gemm *gemm,
        char *text, size_t size)
{
    struct kiln_problem problem;
    struct kiln_text builder;
    if (text != NULL) {
        kiln_text_begin(&builder, text, size);
    }
    if (context == NULL || gemm == NULL || text == NULL) {
        return KILN_INVALID_ARGUMENT;
    }
    enum kiln_status status = kiln_problem_make(context, gemm, KILN_CHECK_SHAPE, &problem);
    if (status != KILN_SUCCESS) {
        return status;
    }
    if (problem.is_nothing) {
        add_nothing(&builder, context, &problem);
    } else {
        status = explain_choice(&builder, context, &problem);
        if (status != KILN_SUCCESS) {
            return status;
        }
    }
    return builder.truncated ? KILN_TEXT_TOO_SMALL : KILN_SUCCESS;
}
