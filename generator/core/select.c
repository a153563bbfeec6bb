/* select.c: greedy choice of recipes from the times of a journal. */
#include "select.h"
#include "emit.h"
#include "fit.h"
#include "losses.h"
#include "platform.h"
#include "sort.h"
#include "times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CHOSEN = 40, FEW_AGAINST_KNOWN = 150, FEW_TASKS = 8 };

/* Predicted times at up to so many drawn tasks are used for the choice too; together they count as
 * much as the measured ones. */
enum { MOST_GUESSES = 800 };

/* As many products as take the time of moving one element of a matrix from or to memory. */
enum { MOVED_AS = 64 };

/* By how much a recipe must lower the mean loss to be worth its size: on a CPU; and on other
 * devices, where times repeat better and a recipe that is fast for one kind of shape is far behind
 * for others, or where all recipes were timed in turn at every shape. */
static const double worth_on_cpu = 0.002, worth_otherwise = 0.0005;
/* And by how much an exchange for another one must lower it. */
static const double worth_exchange = 0.0005;

/* A lead of the generic bundle that is not just noise. */
static const double clear_lead = 1.05;

/* A choice among many candidates favours those whose fitted times are too short, most of all those
 * with few samples. So a candidate with n samples counts as taking 1 + CAUTION / (n + 1) times as
 * long: on a CPU; and where others have the coefficients of a known bundle, which come from many
 * samples. CAUTION_BESIDE is for a CPU beside a bundle for the device. There is no caution where a
 * bundle's own times are fitted anew, as all its recipes were timed in turn; nor on a GPU from
 * nothing, where recipes for few shapes have few samples (generator/tune/MEASUREMENTS.md). */
enum { CAUTION = 8, CAUTION_BESIDE = 30 };

/* The loss, a logarithm of times over the best, of a task that nothing serves; and of a recipe that
 * is taken at a shape of the matrix where it was left out, since its predicted time was then more
 * than twice the best one's, on a CPU 1.3 times. */
static const double missing_loss = 3, untimed_loss = 0.7, untimed_loss_on_cpu = 0.3;

/* A choice under way. */
struct choice {
    struct times times;
    double worth;                      /* what a recipe must lower the mean loss by */
    double untimed;                    /* the loss of a recipe that is taken where it was not
                                          timed */
    bool chosen[TIMES_MAX_CANDIDATES];
    bool inherited[TIMES_MAX_CANDIDATES];        /* chosen because a known bundle has it */
    bool pinned[TIMES_MAX_CANDIDATES]; /* fastest at a shape of the application's own */
    bool ships;
};

static int caution_of(const struct records *records, const struct times *times)
{
    const bool is_cpu = records->head.facts.value[FACT_IS_CPU];
    bool any_prior = false, any_for_device = false;
    if (records->prior_is_own)
        return 0;
    for (unsigned c = 0; c < times->num_candidates; c++) {
        any_prior = any_prior || times->candidates[c].has_prior;
        any_for_device = any_for_device || times->candidates[c].is_for_device;
    }
    return is_cpu && any_for_device ? CAUTION_BESIDE : is_cpu || any_prior ? CAUTION : 0;
}

/* Fits the times of all candidates, with caution. False when out of memory. */
static bool open_times(const struct records *records, const struct precision *precision,
        struct times *times)
{
    if (!times_open(records, precision, false, times))
        return false;
    const int caution = caution_of(records, times);
    for (unsigned c = 0; c < times->num_candidates; c++) {
        struct times_candidate *candidate = &times->candidates[c];
        if (candidate->is_fitted && !candidate->has_prior)
            fit_lengthen(&candidate->time, 1 + caution / ((double) candidate->num_samples + 1));
    }
    return true;
}

/* log(time of what is dispatched / best time), for one task. */
static double task_loss(const struct choice *choice, const struct times_task *task)
{
    const int c = times_dispatched(task, choice->chosen);
    if (c < 0)
        return missing_loss;
    return task->seconds[c] < HUGE_VAL ? log(fmax(1, task->seconds[c] / task->best))
                                       : choice->untimed;
}

/* Most time is spent in large tasks, so a loss is weighted by the logarithm of the work, in units
 * of a small task, 64 cubed; adding 2 gives smaller tasks some weight. Moving an element of a
 * matrix takes about as long as MOVED_AS products; without that, a matrix times a vector would
 * weigh as little as a product that is a hundred times as fast. */
static double task_weight(const struct times *times, const struct times_task *task)
{
    const double num_measured = times->num_tasks - times->num_guesses;
    const double count = task->is_guess ? num_measured / times->num_guesses : 1;
    const double members = (double) shape_members(task->shape);
    const double m = (double) task->m, n = (double) task->n, k = (double) task->k;
    const double moved = m * k + k * n + m * n;
    return count * log(2 + members * (m * n * k + MOVED_AS * moved) * 0x1p-20);
}

static double mean_loss(const struct choice *choice)
{
    double sum = 0, weights = 0;
    for (unsigned i = 0; i < choice->times.num_tasks; i++) {
        const double weight = task_weight(&choice->times, &choice->times.tasks[i]);
        sum += weight * task_loss(choice, &choice->times.tasks[i]);
        weights += weight;
    }
    return sum / weights;
}

/* The mean loss if one candidate more were chosen, and another one no more (-1: none). */
static double loss_with(struct choice *choice, int in, int out)
{
    if (out >= 0)
        choice->chosen[out] = false;
    choice->chosen[in] = true;
    const double loss = mean_loss(choice);
    choice->chosen[in] = false;
    if (out >= 0)
        choice->chosen[out] = true;
    return loss;
}

/* Adds the candidate that lowers the mean loss most, if it is worth its size. */
static bool choose_another(struct choice *choice, double *loss)
{
    int best = -1;
    double best_loss = *loss < HUGE_VAL ? *loss - choice->worth : *loss;
    for (int c = 0; c < (int) choice->times.num_candidates; c++) {
        const double with = choice->chosen[c] ? HUGE_VAL : loss_with(choice, c, -1);
        if (with < best_loss) {
            best = c;
            best_loss = with;
        }
    }
    if (best < 0)
        return false;
    choice->chosen[best] = true;
    *loss = best_loss;
    return true;
}

/* Puts a candidate in the place of a chosen one, the two that lower the mean loss most: what was
 * chosen first, when it had to serve everything, may no longer be worth its place. */
static bool exchange(struct choice *choice, double *loss)
{
    int best_in = -1, best_out = -1;
    double best_loss = *loss - worth_exchange;
    const int num = (int) choice->times.num_candidates;
    for (int out = 0; out < num; out++)
        for (int in = 0; in < num; in++) {
            if (!choice->chosen[out] || choice->inherited[out] || choice->chosen[in])
                continue;
            const double with = loss_with(choice, in, out);
            if (with < best_loss) {
                best_in = in;
                best_out = out;
                best_loss = with;
            }
        }
    if (best_in < 0)
        return false;
    choice->chosen[best_out] = false;
    choice->chosen[best_in] = true;
    *loss = best_loss;
    return true;
}

/* Chooses what a known bundle has too: it was chosen by more shapes than these. */
static unsigned choose_known(struct choice *choice)
{
    const unsigned num_measured = choice->times.num_tasks - choice->times.num_guesses;
    unsigned num = 0;
    for (unsigned c = 0; c < choice->times.num_candidates && num < MAX_CHOSEN; c++)
        if (num_measured < FEW_AGAINST_KNOWN && choice->times.candidates[c].has_prior &&
                choice->times.candidates[c].is_fitted) {
            choice->chosen[c] = choice->inherited[c] = true;
            num++;
        }
    return num;
}

static void choose_few(struct choice *choice)
{
    unsigned num = choose_known(choice);
    double loss = num ? mean_loss(choice) : HUGE_VAL;
    for (; num < MAX_CHOSEN && choose_another(choice, &loss); num++)
        while (exchange(choice, &loss))
            continue;
}

/* ---- the generic bundle ---- */

static bool loses_to_generic(const struct choice *choice, const struct times_task *task)
{
    const int c = times_dispatched(task, choice->chosen);
    return c >= 0 && task->seconds[c] > clear_lead * task->generic;
}

/* Chooses each recipe of generic that clearly leads at a task, however little it is worth on the
 * whole: no call is to lose by a tuned bundle. */
static void choose_generic(struct choice *choice)
{
    for (unsigned i = 0; i < choice->times.num_tasks; i++) {
        const struct times_task *task = &choice->times.tasks[i];
        if (task->by_generic >= 0 && loses_to_generic(choice, task))
            choice->chosen[task->by_generic] = true;
    }
}

/* Whether all that are chosen are recipes of the generic bundle, which has more of them. */
static bool is_only_generic(const struct records *records, const struct choice *choice)
{
    unsigned num = 0, generic = 0;
    for (unsigned c = 0; c < choice->times.num_candidates; c++) {
        bool found = false;
        for (size_t i = 0; i < records->num && choice->chosen[c] && !found; i++)
            found = records->rows[i].kind == RECORD_GENERIC &&
                    records->rows[i].precision == choice->times.precision &&
                    config_equal(&records->rows[i].config, &choice->times.candidates[c].config);
        num += choice->chosen[c];
        generic += found;
    }
    return num && num == generic;
}

/* Compares what is chosen with the generic bundle. */
static void compare_generic(const struct records *records, const struct choice *choice,
        struct select_generic *out)
{
    double sum = 0, weights = 0;
    *out = (struct select_generic){ .shapes = 0 };
    for (unsigned i = 0; i < choice->times.num_tasks; i++) {
        const struct times_task *task = &choice->times.tasks[i];
        const int c = times_dispatched(task, choice->chosen);
        if (c < 0 || !(task->generic < HUGE_VAL) || !(task->seconds[c] < HUGE_VAL))
            continue;
        const double weight = task_weight(&choice->times, task);
        out->shapes++;
        out->slower += loses_to_generic(choice, task);
        out->unverified += loses_to_generic(choice, task) && task->by_generic < 0;
        sum += weight * log(task->seconds[c] / task->generic);
        weights += weight;
    }
    out->factor = weights > 0 ? exp(sum / weights) : 0;
    out->is_left = out->factor > clear_lead || is_only_generic(records, choice);
}

/* ---- the application's own shapes ---- */

/* The fastest candidate for a task, of some or of all (NULL); -1: none. */
static int fastest(const struct times *times, const struct times_task *task, const bool *among)
{
    int best = -1;
    for (unsigned c = 0; c < times->num_candidates; c++)
        if ((!among || among[c]) && times->candidates[c].is_fitted && task->seconds[c] < HUGE_VAL &&
                (best < 0 || task->seconds[c] < task->seconds[best]))
            best = (int) c;
    return best;
}

/* The times at the application's own shapes alone. False when out of memory. */
static bool own_tasks(const struct records *records, struct choice *choice)
{
    times_clear(&choice->times);
    return times_add(records, RECORD_OWN, &choice->times);
}

/* Chooses what is fastest at the application's own shapes. */
static bool choose_own(const struct records *records, struct choice *choice)
{
    if (!own_tasks(records, choice))
        return false;
    for (unsigned i = 0; i < choice->times.num_tasks; i++) {
        const int c = fastest(&choice->times, &choice->times.tasks[i], NULL);
        if (c >= 0)
            choice->chosen[c] = choice->pinned[c] = true;
    }
    return true;
}

static struct winner_pin *find_pin(struct winners *winners, const struct times *times,
        const struct times_task *task)
{
    for (unsigned i = 0; i < winners->num_pins; i++) {
        struct winner_pin *pin = &winners->pins[i];
        if (pin->precision == times->precision && shape_equal(pin->shape, task->shape))
            return pin;
    }
    if (winners->num_pins == WINNERS_MAX_PINS)
        return NULL;
    struct winner_pin *pin = &winners->pins[winners->num_pins++];
    *pin = (struct winner_pin){ .precision = times->precision,
        .shape = task->shape,
        .recipe = { -1, -1, -1, -1 } };
    return pin;
}

static bool add_pins(const struct records *records, struct choice *choice,
        const int number[TIMES_MAX_CANDIDATES], struct winners *winners)
{
    if (!own_tasks(records, choice))
        return false;
    for (unsigned i = 0; i < choice->times.num_tasks; i++) {
        const struct times_task *task = &choice->times.tasks[i];
        const int c = fastest(&choice->times, task, choice->chosen);
        struct winner_pin *pin = c < 0 ? NULL : find_pin(winners, &choice->times, task);
        if (pin)
            pin->recipe[task->pair] = number[c];
    }
    return true;
}

/* ---- what choosing costs ---- */

/* At the held-out shapes. */
static bool add_losses(const struct records *records, struct choice *choice,
        struct winners *winners)
{
    times_clear(&choice->times);
    return times_add(records, RECORD_HELD, &choice->times) &&
           losses_add(&choice->times, choice->chosen, winners);
}

/* ---- a precision ---- */

/* Lists what the choice is judged by. False when out of memory. */
static bool list_tasks(const struct records *records, struct choice *choice)
{
    struct times *times = &choice->times;
    times_clear(times);
    bool ok = times_add(records, RECORD_MATRIX, times) && times_add(records, RECORD_OWN, times);
    choice->untimed = records->head.facts.value[FACT_IS_CPU] ? untimed_loss_on_cpu : untimed_loss;
    if (ok && times->num_tasks < FEW_TASKS) { /* stopped early: what was seen before must help */
        choice->untimed = missing_loss;
        ok = times_add(records, RECORD_FIRST, times) && times_add(records, RECORD_SEARCH, times);
    }
    if (ok)
        times_add_generic(records, times);
    return ok && (!times->num_tasks || times_add_guesses(records, MOST_GUESSES, times));
}

/* Lists the times and chooses. False when out of memory; without times nothing is chosen. The
 * choice is freed in any case. */
static bool choose(const struct records *records, const struct precision *precision,
        bool is_in_turn, struct choice *choice)
{
    const bool is_noisy = records->head.facts.value[FACT_IS_CPU] && !is_in_turn;
    *choice = (struct choice){ .worth = is_noisy ? worth_on_cpu : worth_otherwise };
    struct times *times = &choice->times;
    const bool ok = open_times(records, precision, times) && list_tasks(records, choice);
    if (!ok || !times->num_tasks)
        return ok;
    choose_few(choice);
    choose_generic(choice);
    return true;
}

bool select_generic(const struct records *records, const struct precision *precision,
        struct select_generic *out)
{
    struct choice choice;
    const bool ok = choose(records, precision, false, &choice);
    compare_generic(records, &choice, out);
    times_free(&choice.times);
    return ok;
}

/* Adds the chosen ones; number[c] is the place of a candidate among them, or -1. */
static bool add_recipes(const struct choice *choice, struct winners *winners,
        int number[TIMES_MAX_CANDIDATES])
{
    int next = 0;
    for (unsigned c = 0; c < choice->times.num_candidates; c++) {
        const struct times_candidate *candidate = &choice->times.candidates[c];
        number[c] = choice->chosen[c] ? next++ : -1;
        if (!choice->chosen[c])
            continue;
        if (winners->num_recipes == WINNERS_MAX_RECIPES)
            return false;
        winners->recipes[winners->num_recipes++] = (struct winner){
            .precision = choice->times.precision,
            .config = candidate->config,
            .is_timed = candidate->is_fitted,
            .time = candidate->time,
        };
    }
    return true;
}

/* Chooses the recipes of a precision, and lists again what they are judged by. */
static bool choose_all(const struct records *records, const struct precision *precision,
        const struct select_budget *budget, struct choice *choice)
{
    struct select_generic against;
    if (!choose(records, precision, budget->is_in_turn, choice))
        return false;
    compare_generic(records, choice, &against);
    choice->ships = choice->times.num_tasks && (budget->is_alone || !against.is_left);
    return !choice->ships || (choose_own(records, choice) && list_tasks(records, choice));
}

static bool add_choice(const struct records *records, struct choice *choice,
        struct winners *winners)
{
    int number[TIMES_MAX_CANDIDATES];
    return !choice->ships ||
           (add_recipes(choice, winners, number) && add_pins(records, choice, number, winners) &&
                   add_losses(records, choice, winners));
}

/* ---- the budget of bytes ---- */

static unsigned num_chosen(const struct choice *choice)
{
    unsigned num = 0;
    for (unsigned c = 0; c < choice->times.num_candidates && choice->ships; c++)
        num += choice->chosen[c];
    return num;
}

/* Adds what is chosen now, without the losses, and lists again what it is judged by. */
static bool add_for_size(const struct records *records, struct choice *choice,
        struct winners *winners)
{
    int number[TIMES_MAX_CANDIDATES];
    return !choice->ships ||
           (add_recipes(choice, winners, number) && add_pins(records, choice, number, winners) &&
                   list_tasks(records, choice));
}

static bool assembled_bytes(struct winners *winners, size_t *bytes, char error[FAMILY_ERROR_BYTES])
{
    struct assembly assembly;
    bool ok = winners_rehash(winners, error);
    if (!ok)
        return false;
    ok = winners_assemble(winners, &assembly, error);
    if (ok && !emit_bytes(&assembly.bundle, bytes)) {
        snprintf(error, FAMILY_ERROR_BYTES, "the bundle's size cannot be told");
        ok = false;
    }
    assembly_free(&assembly);
    return ok;
}

/* The bytes of a bundle of what is chosen now. */
static bool count_bytes(const struct records *records, struct choice *choices,
        struct winners *winners, size_t *bytes, char error[FAMILY_ERROR_BYTES])
{
    winners->num_recipes = winners->num_pins = 0;
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        if (!add_for_size(records, &choices[i], winners)) {
            snprintf(error, FAMILY_ERROR_BYTES, "out of memory, or too many recipes");
            return false;
        }
    return assembled_bytes(winners, bytes, error);
}

/* By how much the mean loss rises without a chosen candidate. */
static double worth_of(struct choice *choice, unsigned c)
{
    const double with = mean_loss(choice);
    choice->chosen[c] = false;
    const double without = mean_loss(choice);
    choice->chosen[c] = true;
    return without - with;
}

/* Drops the recipe that is worth least of all precisions'; those that are pinned come last, and the
 * only one of a precision never. False when there is none to drop. */
static bool drop_least(struct choice *choices, struct select_budget *budget)
{
    struct choice *from = NULL;
    unsigned which = 0;
    double least = HUGE_VAL;
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++) {
        struct choice *choice = &choices[i];
        const bool may = num_chosen(choice) > 1;
        for (unsigned c = 0; may && c < choice->times.num_candidates; c++) {
            if (!choice->chosen[c] || (from && choice->pinned[c] && !from->pinned[which]))
                continue;
            const double worth = worth_of(choice, c);
            if (from && worth >= least && choice->pinned[c] == from->pinned[which])
                continue;
            from = choice;
            which = c;
            least = worth;
        }
    }
    if (!from)
        return false;
    from->chosen[which] = false;
    budget->dropped[budget->num_dropped++] = (struct select_dropped){
        .precision = from->times.precision,
        .config = from->times.candidates[which].config,
        .loss = exp(least),
        .is_pinned = from->pinned[which],
    };
    return true;
}

/* Counting takes long: far over the budget, several are dropped at a time, half as many as their
 * mean size suggests. */
static bool fit_budget(const struct records *records, struct choice *choices,
        struct select_budget *budget, struct winners *winners, char error[FAMILY_ERROR_BYTES])
{
    for (bool may_drop = true;;) {
        unsigned num = 0;
        for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
            num += num_chosen(&choices[i]);
        if (num && !count_bytes(records, choices, winners, &budget->bytes, error))
            return false;
        if (!num || budget->bytes <= budget->most_bytes || !may_drop)
            return true;
        const size_t over = budget->bytes - budget->most_bytes;
        const size_t drops = 1 + over * num / (2 * budget->bytes);
        for (size_t i = 0; i < drops && may_drop; i++)
            may_drop = drop_least(choices, budget);
    }
}

void select_tell_dropped(const struct select_budget *budget, const char *program, struct text *text)
{
    char config[CONFIG_TEXT_BYTES];
    for (unsigned i = 0; i < budget->num_dropped; i++) {
        const struct select_dropped *dropped = &budget->dropped[i];
        config_format(&dropped->config, config);
        text_add(text, "%s: %s: dropped to keep within %zu KiB, which costs %.2f %%%s: %s\n",
                program, dropped->precision->name, budget->most_bytes / 1024,
                100 * (dropped->loss - 1),
                dropped->is_pinned ? " and what is best at a shape of --shapes" : "", config);
    }
    if (budget->most_bytes && budget->bytes > budget->most_bytes)
        text_add(text,
                "%s: warning: the bundle takes %zu KiB, not %zu: one recipe a precision is "
                "kept\n",
                program, (budget->bytes + 1023) / 1024, budget->most_bytes / 1024);
}

/* ---- what a bundle makes of a journal ---- */

/* The candidate that is pinned to a task, or -1. */
static int pinned(const struct winners *winners, const struct times *times,
        const struct times_task *task)
{
    for (unsigned i = 0; i < winners->num_pins; i++) {
        const struct winner_pin *pin = &winners->pins[i];
        const struct winner *winner =
                pin->precision == times->precision && shape_equal(pin->shape, task->shape)
                        ? winners_recipe(winners, pin->precision, pin->recipe[task->pair])
                        : NULL;
        if (winner)
            return times_find(times, &winner->config);
    }
    return -1;
}

/* Finds the candidates that the winners are. */
static void mark_winners(const struct winners *winners, struct choice *choice,
        int number[TIMES_MAX_CANDIDATES])
{
    for (unsigned c = 0; c < TIMES_MAX_CANDIDATES; c++)
        number[c] = -1;
    const struct winner *winner;
    for (int i = 0; (winner = winners_recipe(winners, choice->times.precision, i)); i++) {
        const int c = times_find(&choice->times, &winner->config);
        if (c >= 0) {
            choice->chosen[c] = true;
            number[c] = i;
        }
    }
}

bool select_list(const struct records *records, const struct winners *winners,
        const struct precision *precision, enum record_kind kind, struct selection **list,
        unsigned *num)
{
    struct choice choice = { .worth = 0 };
    int number[TIMES_MAX_CANDIDATES];
    *num = 0;
    *list = NULL;
    bool ok = open_times(records, precision, &choice.times) &&
              times_add(records, kind, &choice.times);
    if (ok && kind != RECORD_HELD) /* there nothing else counts */
        times_add_generic(records, &choice.times);
    mark_winners(winners, &choice, number);
    if (ok && choice.times.num_tasks) {
        *list = calloc(choice.times.num_tasks, sizeof **list);
        ok = *list != NULL;
    }
    for (unsigned i = 0; ok && i < choice.times.num_tasks; i++) {
        const struct times_task *task = &choice.times.tasks[i];
        const int pin = pinned(winners, &choice.times, task);
        const int c = pin >= 0 ? pin : times_dispatched(task, choice.chosen);
        if (c >= 0 && task->seconds[c] < HUGE_VAL)
            (*list)[(*num)++] = (struct selection){ .shape = task->shape,
                .pair = task->pair,
                .recipe = number[c],
                .seconds = task->seconds[c],
                .best = fmin(task->best, task->seconds[c]),
                .generic = task->generic };
    }
    times_free(&choice.times);
    return ok;
}

/* Lower case letters and digits, the rest as single dashes. */
static void make_name(const char *device, char *name, size_t bytes)
{
    size_t len = 0;
    for (; *device && len + 1 < bytes; device++) {
        const char c = *device;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            name[len++] = c;
        else if (c >= 'A' && c <= 'Z')
            name[len++] = (char) (c - 'A' + 'a');
        else if (len && name[len - 1] != '-')
            name[len++] = '-';
    }
    while (len && name[len - 1] == '-')
        len--;
    name[len] = '\0';
    if (!len)
        snprintf(name, bytes, "device");
}

static void describe(const struct records *records, const char *name, struct winners *winners)
{
    const struct device_facts *facts = &records->head.facts;
    if (name)
        snprintf(winners->name, sizeof winners->name, "%s", name);
    else
        make_name(facts->device, winners->name, sizeof winners->name);
    snprintf(winners->platform, sizeof winners->platform, "%s", facts->platform);
    snprintf(winners->device, sizeof winners->device, "%s", facts->device);
    snprintf(winners->provenance, sizeof winners->provenance,
            "tuned on %.120s, %.100s, driver %.60s", facts->device, facts->platform, facts->driver);
    /* Its compiler may end the process, depending on the version. */
    if (kiln_compiles_in_process(facts->platform))
        snprintf(winners->driver, sizeof winners->driver, "%s", facts->driver);
    winners->facts = *facts;
    winners->has_facts = true;
}

static bool select_choices(const struct records *records, struct choice *choices,
        struct select_budget *budget, struct winners *winners, char error[FAMILY_ERROR_BYTES])
{
    bool ok = true;
    for (size_t i = 0; i < KILN_NUM_PRECISIONS && ok; i++)
        ok = choose_all(records, &precisions[i], budget, &choices[i]);
    if (ok && budget->most_bytes && !fit_budget(records, choices, budget, winners, error))
        return false;
    winners->num_recipes = winners->num_pins = 0;
    for (size_t i = 0; i < KILN_NUM_PRECISIONS && ok; i++)
        ok = add_choice(records, &choices[i], winners);
    if (!ok)
        snprintf(error, FAMILY_ERROR_BYTES, "out of memory, or too many recipes");
    return ok;
}

bool select_within(const struct records *records, const char *name, struct select_budget *budget,
        struct winners *winners, char error[FAMILY_ERROR_BYTES])
{
    struct choice choices[KILN_NUM_PRECISIONS] = { { .worth = 0 } };
    struct select_budget none = { .most_bytes = 0 };
    budget = budget ? budget : &none;
    budget->bytes = 0;
    budget->num_dropped = 0;
    *winners = (struct winners){ .num_recipes = 0 };
    describe(records, name, winners);
    const bool ok = select_choices(records, choices, budget, winners, error);
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        times_free(&choices[i].times);
    if (!ok)
        return false;
    if (!winners->num_recipes) {
        snprintf(error, FAMILY_ERROR_BYTES,
                "nothing in the journal may ship: it passed no edge classes, or is not faster than "
                "generic");
        return false;
    }
    return winners_rehash(winners, error);
}

bool select_winners(const char *journal, const char *name, struct select_budget *budget,
        struct winners *winners, char error[FAMILY_ERROR_BYTES])
{
    struct records records;
    if (!records_parse(journal, &records, error))
        return false;
    bool ok = records.head.generator == record_generator_hash();
    if (!ok)
        snprintf(error, FAMILY_ERROR_BYTES,
                "the journal was made by another version of the kernels");
    ok = ok && select_within(&records, name, budget, winners, error);
    records_free(&records);
    return ok;
}
