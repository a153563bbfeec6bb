/* explain.c: questions about a call, answered by the same choice that the call itself makes. */
#include "internal.h"

static void add_fact(struct kiln_text *text, const char *key, const char *value)
{
    kiln_text_add(text, key);
    kiln_text_add(text, ": ");
    kiln_text_add(text, value);
    kiln_text_add(text, "\n");
}

static void add_number(struct kiln_text *text, const char *before, uint64_t number)
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
                 ? "emulated"
                 : "native, though emulation is allowed";
}

static void add_triangle(struct kiln_text *text, bool is_hermitian, const char *key, int triangle)
{
    if (triangle != KILN_TRIANGLE_NONE) {
        kiln_text_add(text, key);
        kiln_text_add(text, is_hermitian ? "hermitian," : "symmetric,");
        kiln_text_add(text, triangle > 0 ? "lower" : "upper");
    }
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
    add_triangle(text, problem->is_hermitian, " a=", problem->triangle_a);
    add_triangle(text, problem->is_hermitian, " b=", problem->triangle_b);
    add_triangle(text, problem->is_hermitian, " c=", product->triangle);
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
    const unsigned work_dim = plan->members > 1 ? 3 : stage->work_dim;
    kiln_text_add(text, " groups=");
    for (unsigned d = 0; d < work_dim; d++) {
        const size_t groups = d < stage->work_dim ? plan->groups[index][d] : 1;
        add_number(text, d > 0 ? "x" : "", d == 2 ? groups * plan->members : groups);
    }
    kiln_text_add(text, " local=");
    for (unsigned d = 0; d < work_dim; d++) {
        add_number(text, d > 0 ? "x" : "", d < stage->work_dim ? stage->local[d] : 1);
    }
    kiln_text_add(text, "\n");
}

static void add_stages(struct kiln_text *text, const struct kiln_plan *plan)
{
    for (unsigned i = 0; i < plan->recipe->num_stages; i++) {
        if (kiln_stage_is_needed(plan->recipe, i, plan->ready) && !kiln_stage_is_empty(plan, i)) {
            add_stage(text, plan, i);
        }
    }
}

/* A recipe that brings operands into a form, and its stages. */
static void add_part(struct kiln_text *text, const struct kiln_context *context, const char *key,
        const struct kiln_choice *choice, const struct kiln_plan *plan)
{
    kiln_text_add(text, key);
    kiln_text_add(text, ": ");
    kiln_text_add(text, choice->plan.recipe->name);
    add_fact(text, ", bundle", context->links[choice->link].bundle->name);
    add_stages(text, plan);
}

/* What a call does, part by part. */
struct parts {
    struct kiln_mirroring mirroring;   /* its rest is what is left when the operands are whole */
    struct kiln_choice mirror[2];
    bool is_complex;                   /* and a recipe leaves a real product of it: */
    struct kiln_choice own;            /* what is around that */
    struct kiln_problem real;
    const struct kiln_problem *product;    /* what is multiplied; NULL: nothing */
    struct kiln_choice choice;         /* by this */
};

static void add_parts(struct kiln_text *text, const struct kiln_context *context,
        const struct parts *parts)
{
    struct kiln_plan before = parts->own.plan, behind = before;
    size_t bytes = parts->mirroring.bytes;
    for (unsigned i = 0; i < parts->mirroring.num; i++) {
        add_part(text, context, "first", &parts->mirror[i], &parts->mirror[i].plan);
    }
    if (parts->is_complex) {
        kiln_complex_take_begin(&before);
        add_part(text, context, "first", &parts->own, &before);
        bytes += parts->own.plan.workspace_bytes;
    }
    if (parts->product != NULL) {
        kiln_text_add(text, parts->is_complex          ? "then: a real product\n"
                            : parts->mirroring.num > 0 ? "then: a product\n"
                                                       : "");
        add_stages(text, &parts->choice.plan);
        bytes += parts->choice.plan.workspace_bytes;
    }
    if (parts->is_complex && kiln_complex_has_end(&parts->mirroring.rest)) {
        kiln_complex_take_end(&behind);
        add_part(text, context, "last", &parts->own, &behind);
    }
    add_number(text, "workspace: ", bytes);
    kiln_text_add(text, " bytes\n");
}

static void add_choice(struct kiln_text *text, const struct kiln_context *context,
        const struct kiln_problem *problem, const struct parts *parts)
{
    const struct kiln_choice *choice = parts->product != NULL ? &parts->choice : &parts->own;
    const struct kiln_link *link = &context->links[choice->link];
    const struct kiln_bundle *bundle = link->bundle;
    const struct kiln_recipe *recipe = choice->plan.recipe;
    add_fact(text, "bundle", bundle->name);
    add_fact(text, "kernel", recipe->name);
    if (link->is_relative) {
        kiln_text_add(text, "tuned on: a relative of the device");
        kiln_text_add(text, bundle->match.device != NULL ? ", " : "");
        kiln_text_add(text, bundle->match.device != NULL ? bundle->match.device : "");
        kiln_text_add(text, "\n");
    }
    add_problem(text, context, problem, choice);
    add_packs(text, problem);
    add_fact(text, "program", link->programs[recipe->program].from_binary ? "binary" : "source");
    add_fact(text, "indices", recipe->index_bits == 32 ? "32 bits" : "64 bits");
    add_parts(text, context, parts);
    if (bundle->provenance != NULL) {
        add_fact(text, "provenance", bundle->provenance);
    }
}

/* By enum kiln_fit. */
static const char *const fit_words[] = {
    "",
    " (not for the device)",
    " (not for such leading dimensions and offsets)",
    " (its 32-bit indices are too short)",
    " (its workspace is too large)",
};

/* Microseconds with two digits behind the point. */
static void add_time(struct kiln_text *text, uint64_t picoseconds)
{
    const uint64_t hundredths = picoseconds / 10000;
    kiln_text_add_number(text, hundredths / 100);
    add_number(text, ".", hundredths / 10 % 10);
    add_number(text, "", hundredths % 10);
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
                                    ? " (the driver refused it)"
                                    : "");
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

enum kiln_status kiln_gemm_workspace_bytes(struct kiln_context *context,
        const struct kiln_gemm *gemm, size_t *bytes)
{
    struct kiln_problem problem;
    size_t needed = 0;
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
    status = kiln_workspace_needed(context, &problem, &needed);
    *bytes = status == KILN_SUCCESS ? needed : 0;
    return status;
}

/* What multiplies, in the place of parts->choice: the real product that it leaves, if so. */
static enum kiln_status find_real(struct kiln_context *context, const struct kiln_problem *problem,
        struct parts *parts)
{
    parts->product = problem;
    parts->is_complex = parts->choice.plan.recipe->routine == KILN_ROUTINE_TO_REAL;
    if (!parts->is_complex) {
        return KILN_SUCCESS;
    }
    parts->own = parts->choice;
    enum kiln_status status = kiln_complex_split(problem, &parts->own.plan, &parts->real);
    parts->product = parts->real.is_nothing ? NULL : &parts->real;
    return status == KILN_SUCCESS && parts->product != NULL
                 ? kiln_attempt_first(context, parts->product, &parts->choice)
                 : status;
}

static enum kiln_status find_product(struct kiln_context *context,
        const struct kiln_problem *problem, struct parts *parts)
{
    struct kiln_attempts attempts = { .insists = false };
    enum kiln_status status = KILN_SUCCESS;
    while (kiln_attempt_next(context, problem, &attempts, &parts->choice, &status)) {
        status = status == KILN_SUCCESS ? find_real(context, problem, parts) : status;
        if (status == KILN_SUCCESS) {
            return KILN_SUCCESS;
        }
    }
    return kiln_attempts_failure(context, problem, &attempts);
}

static enum kiln_status find_parts(struct kiln_context *context, const struct kiln_problem *problem,
        struct parts *parts)
{
    struct kiln_mirroring *mirroring = &parts->mirroring;
    enum kiln_status status = kiln_mirroring_make(problem, mirroring) ? KILN_SUCCESS
                                                                      : KILN_SIZE_OVERFLOW;
    for (unsigned i = 0; i < mirroring->num && status == KILN_SUCCESS; i++) {
        status = kiln_attempt_first(context, &mirroring->mirror[i], &parts->mirror[i]);
    }
    return status == KILN_SUCCESS ? find_product(context, &mirroring->rest, parts) : status;
}

/* Cold: small rather than fast. */
__attribute__((cold))
enum kiln_status kiln_gemm_explain(struct kiln_context *context, const struct kiln_gemm *gemm,
        char *text, size_t size)
{
    struct kiln_problem problem;
    struct parts parts = { .product = NULL };
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
        status = find_parts(context, &problem, &parts);
        if (status != KILN_SUCCESS) {
            return status;
        }
        add_choice(&builder, context, &problem, &parts);
        if (parts.is_complex && problem.bound == 0) {
            add_candidates(&builder, context, &parts.mirroring.rest, &parts.own);
        }
        if (parts.product != NULL && problem.bound == 0) {
            add_candidates(&builder, context, parts.product, &parts.choice);
        }
    }
    return builder.truncated ? KILN_TEXT_TOO_SMALL : KILN_SUCCESS;
}
