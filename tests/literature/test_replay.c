/* test_replay.c: strategies on recordings, generator/literature/replay/replay.c. */
#include "recordings.h"
#include "literature/replay/recording.h"
#include "literature/replay/replay.h"
#include "search/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { NUM_MARKS = 5 };

static char here[64], there[64]; /* paths in the working directory */
static struct recording recording;

static void write_recording(const char *name, const struct taste *taste, char path[64])
{
    struct text text = { 0 };
    char error[FILES_ERROR_BYTES];
    snprintf(path, 64, "%s-%ld.tsv", name, (long) getpid());
    recordings_add(&text, taste);
    assert_false(text.failed);
    assert_true(files_write(path, text.bytes, text.len, error));
    text_free(&text);
}

static int write_recordings(void **state)
{
    (void) state;
    struct text text = { 0 };
    char error[RECORDING_ERROR_BYTES];
    const struct taste taste = { 7, 4, 2 }, similar = { 6, 4, 2 };
    write_recording("here", &taste, here);
    write_recording("there", &similar, there);
    recordings_add(&text, &taste);
    assert_true(recording_parse(text.bytes, &recording, error));
    text_free(&text);
    return 0;
}

static int remove_recordings(void **state)
{
    (void) state;
    recording_free(&recording);
    return unlink(here) || unlink(there);
}

/* The five fractions of the row that begins with a name. */
static void find_row(const char *table, const char *name, double fraction[NUM_MARKS])
{
    char begin[112];
    snprintf(begin, sizeof begin, "\n  %s ", name);
    const char *p = strstr(table, begin);
    if (!p)
        fail_msg("no row of %s in\n%s", name, table);
    p += 2 + 40;
    for (int m = 0; m < NUM_MARKS; m++) {
        char *end;
        fraction[m] = strtod(p, &end);
        assert_true(end != p);
        p = end;
    }
}

static void report(const struct replay_options *options, struct text *text)
{
    char error[FILES_ERROR_BYTES];
    if (!replay_report(options, text, error))
        fail_msg("%s", error);
    assert_false(text->failed);
}

/* Every strategy has a row, whose fractions rise; the same again gives the same table. */
static void every_strategy_has_a_row(void **state)
{
    (void) state;
    char *paths[] = { here };
    const struct replay_options options = { .strategy = "all",
        .seeds = 5,
        .paths = paths,
        .num_paths = 1 };
    struct text text = { 0 }, again = { 0 };
    report(&options, &text);
    report(&options, &again);
    assert_string_equal(text.bytes, again.bytes);
    for (size_t s = 0; s < num_search_strategies; s++) {
        double fraction[NUM_MARKS];
        find_row(text.bytes, search_strategies[s]->name, fraction);
        for (int m = 0; m < NUM_MARKS; m++) {
            assert_true(fraction[m] > 0 && fraction[m] <= 1);
            assert_true(m == 0 || fraction[m] >= fraction[m - 1]);
        }
    }
    text_free(&text);
    text_free(&again);
}

static void guided_is_best_with_a_start_and_without(void **state)
{
    (void) state;
    char *paths[] = { here }, with_start[96];
    const struct replay_options options = { .strategy = "all",
        .seeds = 20,
        .start = there,
        .paths = paths,
        .num_paths = 1 };
    struct text text = { 0 };
    double guided[NUM_MARKS], started[NUM_MARKS], by_chance[NUM_MARKS];
    report(&options, &text);
    snprintf(with_start, sizeof with_start, "guided, start %s", there);
    find_row(text.bytes, "guided ", guided);
    find_row(text.bytes, with_start, started);
    find_row(text.bytes, "random", by_chance);
    for (int m = 0; m < 2; m++)
        assert_true(guided[m] > by_chance[m] && started[m] > by_chance[m]);
    assert_true(guided[1] > 0.98 && started[1] > 0.98);
    text_free(&text);
}

static void the_rank_can_be_given(void **state)
{
    (void) state;
    char *paths[] = { here };
    struct replay_options options = { .strategy = "guided",
        .seeds = 3,
        .rank = "MWG + NWG + VWM",
        .paths = paths,
        .num_paths = 1 };
    struct text text = { 0 };
    char error[FILES_ERROR_BYTES];
    report(&options, &text);
    options.rank = "MWG + NO_SUCH";
    assert_false(replay_report(&options, &text, error));
    assert_non_null(strstr(error, "rank: undefined name 'NO_SUCH'"));
    text_free(&text);
}

static void bad_files_are_named(void **state)
{
    (void) state;
    char missing[] = "no/such.tsv", *paths[] = { missing };
    struct replay_options options = { .strategy = "all",
        .seeds = 1,
        .paths = paths,
        .num_paths = 1 };
    struct text text = { 0 };
    char error[FILES_ERROR_BYTES];
    assert_false(replay_report(&options, &text, error));
    assert_non_null(strstr(error, "no/such.tsv"));
    paths[0] = here;
    options.start = missing;
    assert_false(replay_report(&options, &text, error));
    assert_non_null(strstr(error, "no/such.tsv"));
    text_free(&text);
}

/* ---- what each strategy is known for, on the recording ---- */

static bool is_legal(void *env, const struct point *point)
{
    return recording_find(env, point) != NULL;
}

/* Proposes until the end; returns how many points. Each must be a row, and none may come twice. */
static size_t run_to_the_end(const char *name, uint64_t seed, struct search *search)
{
    bool *seen = calloc(recording.num_rows, sizeof *seen);
    const struct search_space space = {
        .num_params = recording.num_params,
        .num_values = recording.num_values,
        .legal = is_legal,
        .env = &recording,
    };
    struct point point;
    size_t num = 0;
    assert_non_null(seen);
    assert_true(search_init(search, search_find(name), &space, seed));
    for (; search_propose(search, &point); num++) {
        const struct recording_row *row = recording_find(&recording, &point);
        assert_non_null(row);
        assert_false(seen[row - recording.rows]);
        seen[row - recording.rows] = true;
        search_observe(search, &point, row->cost);
    }
    free(seen);
    return num;
}

static void all_but_the_genetic_one_end_with_the_space(void **state)
{
    (void) state;
    for (size_t s = 0; s < num_search_strategies; s++) {
        struct search search;
        const size_t num = run_to_the_end(search_strategies[s]->name, 7, &search);
        if (strcmp(search_strategies[s]->name, "genetic")) {
            assert_int_equal(num, recording.num_rows);
            assert_true(search.best_cost == recording.best_cost);
        }
        search_free(&search);
    }
}

/* Generations of twenty; the last five of them bring nothing better. */
static void the_genetic_one_ends_when_five_generations_bring_nothing(void **state)
{
    (void) state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct search search;
        const size_t num = run_to_the_end("genetic", seed, &search);
        assert_true(num >= 120 && num < recording.num_rows);
        assert_int_equal(num % 20, 0);
        search_free(&search);
    }
}

static void the_three_stage_one_asks_for_a_reevaluation(void **state)
{
    (void) state;
    for (size_t s = 0; s < num_search_strategies; s++)
        assert_int_equal(search_strategies[s]->num_reevaluated,
                strcmp(search_strategies[s]->name, "three-stage") ? 0 : 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_strategy_has_a_row),
        cmocka_unit_test(guided_is_best_with_a_start_and_without),
        cmocka_unit_test(the_rank_can_be_given),
        cmocka_unit_test(bad_files_are_named),
        cmocka_unit_test(all_but_the_genetic_one_end_with_the_space),
        cmocka_unit_test(the_genetic_one_ends_when_five_generations_bring_nothing),
        cmocka_unit_test(the_three_stage_one_asks_for_a_reevaluation),
    };
    return cmocka_run_group_tests_name("replay", tests, write_recordings, remove_recordings);
}
