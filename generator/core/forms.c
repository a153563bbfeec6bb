/* forms.c: see forms.h. */
#include "forms.h"
#include "assemble.h"
#include "plan.h"
#include "predict.h"

#include <math.h>
#include <string.h>

/* Recipes for triangles: at most so many of a precision, by their times at shapes of two pairs: NT,
 * as in A A', and NN, which complex products become. */
enum { MOST_TRIANGLES = 8, OF_PAIR = 2 * 8 * 4, NUM_SHAPES = 2 * OF_PAIR, MOST_KEPT = 4 };
static const int pairs[] = { 1, 0 };

/* In a bundle for several kinds of devices, so many for each of these kinds. */
static const struct kind {
    unsigned kind, vector_floats;
    int most;
} kinds[] = {
    { KILN_KIND_CPU, 16, 2 }, { KILN_KIND_CPU, 8, 1 }, { KILN_KIND_CPU, 4, 1 },
    { KILN_KIND_OTHER, 1, 2 },
};

bool form_is(const struct winner *winner)
{
    return winner->triangle || winner->config.family->routine != KILN_ROUTINE_MULTIPLY;
}

/* What brings complex products into the form of real ones, with the times that it has. */
struct kept {
    unsigned num;
    struct winner winners[MOST_KEPT];
};

static void drop_forms(struct winners *winners, struct kept *kept)
{
    unsigned num = 0;
    kept->num = 0;
    for (unsigned i = 0; i < winners->num_recipes; i++) {
        const struct winner *winner = &winners->recipes[i];
        if (!form_is(winner))
            winners->recipes[num++] = *winner;
        else if (winner->is_timed && !winner->triangle && kept->num < MOST_KEPT)
            kept->winners[kept->num++] = *winner;
    }
    winners->num_recipes = num;
}

static void take_time(const struct kept *kept, struct winner *winner)
{
    for (unsigned i = 0; i < kept->num; i++)
        if (kept->winners[i].precision == winner->precision &&
                config_equal(&kept->winners[i].config, &winner->config)) {
            winner->is_timed = true;
            winner->time = kept->winners[i].time;
            memcpy(winner->hash, kept->winners[i].hash, sizeof winner->hash);
        }
}

static bool has_precision(const struct winners *winners, unsigned precision)
{
    bool found = false;
    for (unsigned i = 0; i < winners->num_recipes; i++)
        found = found || winners->recipes[i].precision->id == precision;
    return found;
}

static void add(struct winners *winners, const struct winner *winner)
{
    const struct problem problem = winner_problem(winner, 0);
    const char *reason;
    if (winners->num_recipes < WINNERS_MAX_RECIPES &&
            config_legal(&winner->config, &problem, &winners->facts, &reason))
        winners->recipes[winners->num_recipes++] = *winner;
}

/* ---- Presets ---- */

/* Complex products become real ones: there must be such. */
static bool add_preset(struct winners *winners, const struct kept *kept, const char *preset,
        const struct precision *precision, char error[FAMILY_ERROR_BYTES])
{
    struct winner winner = { .precision = precision };
    if (!preset_find(preset, &winner.config, error))
        return false;
    take_time(kept, &winner);
    if (has_precision(winners, winner.config.family->routine == KILN_ROUTINE_TO_REAL
                                       ? kiln_precision_of_parts(precision->id)
                                       : precision->id))
        add(winners, &winner);
    return true;
}

static bool add_presets(struct winners *winners, const struct kept *kept,
        char error[FAMILY_ERROR_BYTES])
{
    /* On a CPU work-groups that copy are of one work-item. */
    const bool is_cpu = winners->facts.value[FACT_IS_CPU];
    const char *const mirror = is_cpu ? "mirror-alone" : "mirror";
    const char *const complex = is_cpu ? "complex-alone" : "complex";
    bool ok = true;
    for (size_t i = 0; i < KILN_NUM_PRECISIONS && ok; i++)
        if (kiln_precision_is_complex(precisions[i].id))
            ok = add_preset(winners, kept, complex, &precisions[i], error);
    for (size_t i = 0; i < KILN_NUM_PRECISIONS && ok; i++)
        if (precisions[i].id != KILN_ID_EMULATED)
            ok = add_preset(winners, kept, mirror, &precisions[i], error);
    return ok;
}

/* ---- Triangles ---- */

/* Winners that can store a triangle, on a kind of devices, and their times at some shapes. */
struct candidates {
    unsigned num, index[WINNERS_MAX_RECIPES];
    bool takes_all[WINNERS_MAX_RECIPES];           /* whatever the shape and the device */
    double time[WINNERS_MAX_RECIPES][NUM_SHAPES];  /* HUGE_VAL: does not take it */
};

/* Squares of 64 to 8192 rows, aligned or not, and K from an eighth of that to eight times. */
static struct kiln_product shape(const struct problem *problem, unsigned i)
{
    const size_t odd = i % 2, extent = ((size_t) 64 << i / 2 % 8) + odd;
    const size_t depth = (extent << 2 * (i / 16)) / 8 + odd;
    struct kiln_product product = product_dense(problem,
            (struct shape){ extent, extent, depth, 0 });
    product.triangle = KILN_TRIANGLE_LOWER;
    return product;
}

/* Recipes without a time all count the same, and never better than one with a time. */
static double time_of(const struct winner *winner, const struct kiln_recipe *recipe,
        const struct kiln_product *product, const struct device_facts *facts)
{
    if (!kiln_guard_takes(&recipe->guard, product))
        return HUGE_VAL;
    struct kiln_recipe timed = *recipe;
    timed.time = &winner->time;
    return winner->is_timed ? 1 + (double) kiln_time_predict(&timed, product,
                                          (uint32_t) facts->value[FACT_UNITS])
                            : 1e18;
}

/* The times of candidate `c`, which is of `winner`, and whether it is legal for both pairs. */
static bool find_times(const struct winner *winner, const struct device_facts *facts,
        struct candidates *candidates, unsigned c, bool *is_legal, char error[FAMILY_ERROR_BYTES])
{
    *is_legal = true;
    for (unsigned p = 0; p < sizeof pairs / sizeof pairs[0]; p++) {
        struct problem problem = problem_of_pair(winner->precision, pairs[p]);
        struct kiln_recipe recipe;
        const char *reason;
        problem.triangle = true;
        *is_legal = *is_legal && config_legal(&winner->config, &problem, facts, &reason);
        if (!*is_legal)
            return true;
        if (!assemble_traits(&winner->config, &problem, facts, &recipe, error))
            return false;
        for (unsigned s = 0; s < OF_PAIR; s++) {
            const struct kiln_product product = shape(&problem, s);
            candidates->time[c][p * OF_PAIR + s] = time_of(winner, &recipe, &product, facts);
        }
        candidates->takes_all[c] = kiln_recipe_takes_all(&recipe) && !winner->kinds;
    }
    return true;
}

static bool find_candidates(const struct winners *winners, const struct precision *precision,
        const struct kind *kind, struct candidates *candidates, char error[FAMILY_ERROR_BYTES])
{
    candidates->num = 0;
    for (unsigned i = 0; i < winners->num_recipes; i++) {
        const struct winner *winner = &winners->recipes[i];
        bool is_legal = false;
        if (winner->precision != precision || form_is(winner) ||
                (winner->kinds && !(winner->kinds & kind->kind)) ||
                winner->vector_floats > kind->vector_floats)
            continue;
        if (!find_times(winner, &winners->facts, candidates, candidates->num, &is_legal, error))
            return false;
        candidates->index[candidates->num] = i;
        candidates->num += is_legal;
    }
    return true;
}

/* The loss that remains with one more candidate: a sum of logarithms. */
static double loss_with(const struct candidates *candidates, unsigned one,
        const double best[NUM_SHAPES])
{
    double loss = 0;
    for (unsigned s = 0; s < NUM_SHAPES; s++)
        loss += log(fmin(fmin(candidates->time[one][s], best[s]), 1e30));
    return loss;
}

static void add_triangle(struct winners *winners, const struct candidates *candidates, unsigned one)
{
    struct winner winner = winners->recipes[candidates->index[one]];
    winner.triangle = true;
    memset(winner.hash, 0, sizeof winner.hash);
    bool is_there = false;
    for (unsigned i = 0; i < winners->num_recipes; i++) {
        const struct winner *other = &winners->recipes[i];
        is_there = is_there || (other->triangle && other->precision == winner.precision &&
                                       other->kinds == winner.kinds &&
                                       config_equal(&other->config, &winner.config));
    }
    if (!is_there)
        add(winners, &winner);
}

/* Takes greedily the one that leaves the least loss, as long as it gains a two-hundredth. If none
 * of these takes every shape on every device, adds those that do. */
static void add_triangles(struct winners *winners, const struct candidates *candidates, int most)
{
    double best[NUM_SHAPES], last = HUGE_VAL;
    bool takes_all = false;
    for (unsigned s = 0; s < NUM_SHAPES; s++)
        best[s] = HUGE_VAL;
    for (int i = 0; i < most && candidates->num; i++) {
        unsigned least = 0;
        for (unsigned c = 1; c < candidates->num; c++)
            if (loss_with(candidates, c, best) < loss_with(candidates, least, best))
                least = c;
        const double loss = loss_with(candidates, least, best);
        if (last - loss < NUM_SHAPES * 0.005)
            break;
        last = loss;
        takes_all = takes_all || candidates->takes_all[least];
        add_triangle(winners, candidates, least);
        for (unsigned s = 0; s < NUM_SHAPES; s++)
            best[s] = fmin(best[s], candidates->time[least][s]);
    }
    for (unsigned c = 0; c < candidates->num && !takes_all; c++)
        if (candidates->takes_all[c])
            add_triangle(winners, candidates, c);
}

/* Where no recipe says which devices it is for, all are for one kind. */
static bool add_triangles_of(struct winners *winners, const struct precision *precision,
        char error[FAMILY_ERROR_BYTES])
{
    static struct candidates candidates;
    bool has_kinds = false;
    for (unsigned i = 0; i < winners->num_recipes; i++)
        has_kinds = has_kinds ||
                    (winners->recipes[i].precision == precision && winners->recipes[i].kinds);
    const struct kind any = { KILN_KIND_BOTH, UINT8_MAX, MOST_TRIANGLES };
    const struct kind *const list = has_kinds ? kinds : &any;
    bool ok = true;
    for (size_t i = 0; i < (has_kinds ? sizeof kinds / sizeof kinds[0] : 1) && ok; i++) {
        ok = find_candidates(winners, precision, &list[i], &candidates, error);
        if (ok)
            add_triangles(winners, &candidates, list[i].most);
    }
    return ok;
}

/* Adds the hashes that are missing. What was timed keeps the hash of the text that was timed. */
static bool add_hashes(struct winners *winners, char error[FAMILY_ERROR_BYTES])
{
    static const uint64_t none[NUM_PAIRS];
    static struct winners now;
    now = *winners;
    if (!winners_rehash(&now, error))
        return false;
    for (unsigned i = 0; i < winners->num_recipes; i++)
        if (!memcmp(winners->recipes[i].hash, none, sizeof none))
            memcpy(winners->recipes[i].hash, now.recipes[i].hash, sizeof none);
    return true;
}

bool forms_add(struct winners *winners, char error[FAMILY_ERROR_BYTES])
{
    static struct kept kept;
    drop_forms(winners, &kept);
    for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++)
        if (!add_triangles_of(winners, &precisions[p], error))
            return false;
    return add_presets(winners, &kept, error) && add_hashes(winners, error);
}
