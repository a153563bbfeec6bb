/* test_phases.c: how the tuner spends its budget, generator/tune/{phases,drawn,
 * finalists,search_phase,task_search}.c, with made-up times in place of a device. */
#include "phases_world.h"

static void add_known(const char *text)
{
    char error[FAMILY_ERROR_BYTES];
    assert_true(config_parse(text, &known[num_known++], error));
}

static unsigned differences(const struct config *a, const struct config *b)
{
    unsigned num = 0;
    for (unsigned i = 0; i < a->family->num_params; i++)
        num += a->value[i] != b->value[i];
    return num;
}

/* ---- Starts ---- */

/* What the search at this extent evaluates of one family, in order. */
static size_t list_evaluated(const char *family, size_t extent, const struct record *evaluated[],
        size_t most)
{
    size_t num = 0;
    for (size_t i = 0; i < tuner.records.num && num < most; i++) {
        const struct record *r = &tuner.records.rows[i];
        if (r->kind == RECORD_SEARCH && r->m == extent && r->n == extent && r->k == extent &&
                !strcmp(r->config.family->name, family))
            evaluated[num++] = r;
    }
    return num;
}

static void near_copies_among_the_known_are_left_out(void **state)
{
    const struct record *evaluated[2];
    (void) state;
    add_known("packed TM=12 NV=2 VEC=16 MP=2 NP=16");
    add_known("packed TM=12 NV=2 VEC=16 MP=4 NP=16");
    add_known("packed TM=14 NV=2 VEC=16 MP=2 NP=8");
    add_known("packed TM=14 NV=2 VEC=16 MP=4 NP=8");
    run_search(search_find("guided"), 1024, 2);
    assert_int_equal(list_evaluated("packed", 1024, evaluated, 2), 2);
    assert_true(config_equal(&evaluated[0]->config, &known[0]));
    assert_false(config_equal(&evaluated[1]->config, &known[1]));
    assert_true(config_equal(&evaluated[1]->config, &known[2]));
}

static bool is_preset(const struct config *config)
{
    struct config preset;
    char error[FAMILY_ERROR_BYTES];
    for (unsigned i = 0; i < config->family->num_presets; i++)
        if (config_parse(config->family->presets[i].config, &preset, error) &&
                config_equal(config, &preset))
            return true;
    return false;
}

static void what_ranks_best_is_diverse(void **state)
{
    enum { RANKED = 4, MOST = 64 };
    const struct record *evaluated[MOST];
    size_t first = 0;
    (void) state;
    is_flat = true; /* so that every family's start is gone through */
    run_search(search_find("guided"), 1024, 10);
    assert_int_equal(list_evaluated("packed", 1024, evaluated, MOST), MOST);
    while (first < MOST - RANKED && is_preset(&evaluated[first]->config))
        first++;
    assert_in_range(first, 1, MOST - RANKED - 1);
    for (size_t i = first; i < first + RANKED; i++)
        for (size_t j = 0; j < i; j++)
            assert_in_range(differences(&evaluated[i]->config, &evaluated[j]->config),
                    evaluated[i]->config.family->num_params / 3,
                    evaluated[i]->config.family->num_params);
}

/* The first that were evaluated must be the family's presets for singles; returns how many. */
static size_t assert_presets_first(const struct record *const evaluated[], size_t num)
{
    const struct family *family = evaluated[0]->config.family;
    size_t num_meant = 0;
    for (unsigned i = 0; i < family->num_presets; i++) {
        struct config preset;
        char error[FAMILY_ERROR_BYTES];
        if (family->presets[i].precision != 's')
            continue;
        assert_true(config_parse(family->presets[i].config, &preset, error));
        assert_in_range(num_meant, 0, num - 1);
        assert_true(config_equal(&evaluated[num_meant++]->config, &preset));
    }
    return num_meant;
}

/* Of a family that is far behind all presets are evaluated that are meant for the precision, before
 * what is known of other devices, and nothing else. */
static void a_gpu_tries_its_presets(void **state)
{
    const struct record *evaluated[64];
    (void) state;
    is_cpu = false;
    compute_capability = 90;
    slow_family = "tma";
    add_known("tma BM=64 BN=64 ST=3");
    run_search(search_find("guided"), 4096, 9);
    const size_t num = list_evaluated("tma", 4096, evaluated, 64);
    assert_in_range(num, 1, 63);
    assert_int_equal(assert_presets_first(evaluated, num), num);
}

/* A family for later devices is none for earlier ones, and leaves them to the other. */
static void a_gpu_is_given_what_it_can_run(void **state)
{
    const struct record *evaluated[64];
    (void) state;
    is_cpu = false;
    compute_capability = 80;
    run_search(search_find("guided"), 4096, 9);
    const size_t num = list_evaluated("async", 4096, evaluated, 64);
    assert_in_range(num, 3, 64);
    assert_in_range(assert_presets_first(evaluated, num), 3, num);
    assert_int_equal(list_evaluated("tma", 4096, evaluated, 64), 0);
}

/* ---- Costs ---- */

static double costs[4096];
static size_t num_costs;

static bool spy_propose(struct search *search, struct point *point)
{
    return search_draw(search, point);
}

static void spy_observe(struct search *search, const struct point *point, double cost)
{
    (void) search;
    (void) point;
    if (num_costs < sizeof costs / sizeof costs[0])
        costs[num_costs++] = cost;
}

static const struct search_strategy spy = { "spy", "", spy_propose, spy_observe, 0, 0 };

static void a_slow_one_counts_as_its_time(void **state)
{
    (void) state;
    outcome = "slow";
    num_costs = 0;
    run_search(&spy, 1024, 5);
    assert_in_range(num_costs, 100, 4096);
    for (size_t i = 0; i < num_costs; i++) {
        const struct record *r = &tuner.records.rows[i];
        assert_int_equal(r->kind, RECORD_SEARCH);
        assert_true(costs[i] == r->seconds);
    }
}

static void a_failure_costs_infinitely_much(void **state)
{
    (void) state;
    outcome = "timing";
    num_costs = 0;
    run_search(&spy, 1024, 5);
    assert_in_range(num_costs, 100, 4096);
    assert_true(costs[0] == tuner.records.rows[0].seconds);
    for (size_t i = 1; i < num_costs; i++)
        assert_true(costs[i] == HUGE_VAL);
}

/* ---- Re-evaluation ---- */

/* How many search rows of its task were faster than this one. */
static unsigned place_of(const struct record *row)
{
    unsigned num = 0;
    for (size_t i = 0; i < tuner.records.num; i++) {
        const struct record *r = &tuner.records.rows[i];
        num += r->kind == RECORD_SEARCH && same_task(r, row) && r->seconds < row->seconds;
    }
    return num;
}

static void the_best_fifty_are_evaluated_again_at_every_shape(void **state)
{
    enum { REEVALUATED = 50 };
    unsigned num_best = 0;
    (void) state;
    run_phases(search_find("three-stage"), 200);
    const unsigned shapes = count_tasks(RECORD_SEARCH);
    assert_in_range(shapes, 6, 8);
    assert_int_equal(count_rows(RECORD_LOOK, NULL), REEVALUATED * shapes);
    for (size_t i = 0; i < tuner.records.num; i++) {
        const struct record *r = &tuner.records.rows[i];
        if (r->kind == RECORD_LOOK)
            assert_int_equal(count_rows(RECORD_LOOK, &r->config), shapes);
        if (r->kind == RECORD_SEARCH && place_of(r) < REEVALUATED / shapes) {
            assert_int_equal(count_rows(RECORD_LOOK, &r->config), shapes);
            num_best++;
        }
    }
    assert_in_range(num_best, REEVALUATED / shapes * shapes, REEVALUATED + shapes);
}

static double all_round(const struct config *config)
{
    double sum = 0;
    for (size_t i = 0; i < tuner.records.num; i++) {
        const struct record *r = &tuner.records.rows[i];
        if (r->kind == RECORD_LOOK && config_equal(&r->config, config))
            sum += log(r->seconds);
    }
    return sum;
}

/* After the re-evaluation the first finalist, which is verified first, is the one that is best over
 * all shapes. */
static void the_winner_of_all_shapes_is_a_finalist(void **state)
{
    const struct config *first = NULL;
    bool is_again = false;
    (void) state;
    run_phases(search_find("three-stage"), 200);
    for (size_t i = 0; i < tuner.records.num && !first; i++) {
        is_again = is_again || tuner.records.rows[i].kind == RECORD_LOOK;
        if (is_again && tuner.records.rows[i].kind == RECORD_EDGES)
            first = &tuner.records.rows[i].config;
    }
    assert_non_null(first);
    for (size_t i = 0; i < tuner.records.num; i++)
        if (tuner.records.rows[i].kind == RECORD_LOOK)
            assert_true(all_round(first) <= all_round(&tuner.records.rows[i].config));
}

static void others_evaluate_nothing_again(void **state)
{
    (void) state;
    run_phases(search_find("guided"), 20);
    assert_int_equal(count_rows(RECORD_LOOK, NULL), 0);
    assert_true(count_rows(RECORD_EDGES, NULL) > 0 && count_rows(RECORD_MATRIX, NULL) > 0);
}

/* ---- What is known comes first ---- */

static void relatives_recipes_come_before_any_search(void **state)
{
    (void) state;
    is_uneven = true; /* each of the two is best somewhere */
    make_kin(60);
    assert_true(run_made(60));
    const size_t search = first_row(RECORD_SEARCH);
    assert_in_range(search, 1, tuner.records.num - 1);
    for (size_t c = 0; c < num_kin; c++) {
        size_t i = first_row(RECORD_FIRST);
        while (i < search && !config_equal(&tuner.records.rows[i].config, &kin[c]))
            i++;
        assert_in_range(i, 0, search - 1);
        assert_true(is_verified(&kin[c], search));
        assert_true(count_rows(RECORD_MATRIX, &kin[c]) > 0);
    }
}

/* One that takes a single column of C, which the first shapes do not have, beside presets that are
 * all as fast. */
static void relatives_recipes_for_other_shapes_are_verified(void **state)
{
    char error[FAMILY_ERROR_BYTES];
    (void) state;
    is_flat = true;
    make_kin(60);
    assert_true(config_parse("thin SIDE=1 SHORT=1", &kin[num_kin++], error));
    assert_true(run_made(60));
    for (size_t i = 0; i < tuner.records.num; i++)
        assert_false(tuner.records.rows[i].kind == RECORD_FIRST &&
                     config_equal(&tuner.records.rows[i].config, &kin[num_kin - 1]));
    assert_true(is_verified(&kin[num_kin - 1], first_row(RECORD_SEARCH)));
}

/* How many of the relatives' recipes are the nearest one's; the others are of one whose clock runs
 * ten times as fast. */
static size_t num_nearest;

/* What a relative's bundle predicts: the later of its recipes, the faster. */
static const struct kiln_time *predict_later_faster(const void *user,
        const struct device_facts *facts, const struct precision *precision,
        const struct config *config, struct prior_source *source)
{
    static struct kiln_time times[MAX_KNOWN];
    (void) user;
    (void) facts;
    (void) precision;
    for (size_t i = 0; i < num_kin; i++)
        if (config_equal(config, &kin[i])) {
            const bool is_other = i >= num_nearest;
            times[i].coefficient[KILN_TERM_CALL] = 1e9f / (float) (1 + i) / (is_other ? 10 : 1);
            source->bundle = is_other;
            return &times[i];
        }
    return NULL;
}

/* Time for a shape or two; at the others the order is by what the relative's bundle predicts. */
static void relatives_recipes_are_ordered_by_predicted_times_where_none_are(void **state)
{
    size_t edges;
    (void) state;
    is_cpu = false;
    is_flat = true;
    make_kin(2);
    num_nearest = num_kin;
    tuner.records.prior = predict_later_faster;
    assert_true(run_made(0.5));
    assert_in_range(count_tasks(RECORD_FIRST), 1, 2);
    edges = first_row(RECORD_EDGES);
    assert_in_range(edges, 1, tuner.records.num - 1);
    assert_true(config_equal(&tuner.records.rows[edges].config, &kin[num_kin - 1]));
}

/* Be there time for few: one of them can store a triangle of C. */
static void what_stores_triangles_is_verified_early(void **state)
{
    char error[FAMILY_ERROR_BYTES];
    (void) state;
    is_cpu = false;
    is_flat = true;
    slow_family = "direct";
    make_kin(4);
    num_kin = 0;
    assert_true(
            config_parse("direct WGM=1 WGN=1 TM=4 NV=1 VEC=4 INDEX=64", &kin[num_kin++], error));
    for (long rows = 4; rows <= 8; rows += 2) {
        char text[CONFIG_TEXT_BYTES];
        snprintf(text, sizeof text, "fused TM=%ld NV=2 VEC=16", rows);
        assert_true(config_parse(text, &kin[num_kin++], error));
    }
    num_nearest = num_kin;
    tuner.records.prior = predict_later_faster;
    assert_true(run_made(4));
    const struct record *edges = &tuner.records.rows[first_row(RECORD_EDGES)];
    assert_string_equal(edges[0].config.family->name, "fused");
    const struct record *next = edges;
    while (config_equal(&next->config, &edges->config))
        next++;
    assert_int_equal(next->kind, RECORD_EDGES);
    assert_true(next->config.family->triangles);
}

/* Where all of the other's recipes are faster by their clock, the nearest one's best is as good. */
static void predicted_times_of_relatives_are_not_compared(void **state)
{
    char error[FAMILY_ERROR_BYTES];
    (void) state;
    is_cpu = false;
    is_flat = true;
    make_kin(2);
    num_nearest = num_kin;
    assert_true(
            config_parse("direct WGM=1 WGN=1 TM=2 NV=1 VEC=4 INDEX=64", &kin[num_kin++], error));
    tuner.records.prior = predict_later_faster;
    assert_true(run_made(2));
    const size_t edges = first_row(RECORD_EDGES);
    assert_in_range(edges, 1, tuner.records.num - 1);
    assert_true(config_equal(&tuner.records.rows[edges].config, &kin[num_nearest - 1]));
}

/* One that fails wherever it is tried comes behind what is fast. */
static void relatives_recipes_that_fail_come_last(void **state)
{
    (void) state;
    is_cpu = false;
    is_flat = true;
    make_kin(60);
    failing_family = "packed";
    assert_true(run_made(60));
    assert_int_equal(strcmp(kin[0].family->name, "packed"), 0);
    for (size_t i = 0; i < first_row(RECORD_SEARCH); i++)
        assert_false(tuner.records.rows[i].kind == RECORD_EDGES &&
                     config_equal(&tuner.records.rows[i].config, &kin[0]));
}

/* On a CPU the first of all are verified for NN before they are timed, as far as there is time, and
 * what fails is not timed; however long that takes, there is a shape at which the rest is. */
static void a_cpu_verifies_what_it_times_first(void **state)
{
    (void) state;
    for (int is_slow = 0; is_slow < 2; is_slow++) {
        edges_cost = is_slow ? 30 : 0.01;
        failing_family = "packed";
        most_at_once = 0;
        make_kin(60);
        assert_true(run_made(60));
        const size_t first = first_row(RECORD_FIRST), search = first_row(RECORD_SEARCH);
        const struct record *rows = tuner.records.rows;
        assert_in_range(first, 1, search);
        assert_true(config_equal(&rows[0].config, &kin[0]));
        for (size_t i = 0; i < first; i++)
            assert_true(rows[i].kind == RECORD_EDGES && rows[i].pair == 0);
        for (size_t i = first; i < search; i++)
            assert_true(
                    rows[i].kind != RECORD_FIRST || strcmp(rows[i].config.family->name, "packed"));
        assert_true((double) first * edges_cost <= 60);
        assert_int_equal(most_at_once > NUM_PAIRS, !is_slow);
        assert_int_equal(count_tasks(RECORD_FIRST) > 1, !is_slow);
    }
}

/* At every shape that was timed first there is one that was timed there and is verified. */
static void every_class_is_served_before_the_search(void **state)
{
    (void) state;
    make_kin(60);
    assert_true(run_made(60));
    const size_t search = first_row(RECORD_SEARCH);
    assert_in_range(count_tasks(RECORD_FIRST), DRAW_NUM_CLASSES, 6 * DRAW_NUM_CLASSES);
    for (size_t i = 0; i < search; i++) {
        const struct record *rows = tuner.records.rows;
        bool is_served = rows[i].kind != RECORD_FIRST;
        for (size_t j = 0; j < search && !is_served; j++)
            is_served = rows[j].kind == RECORD_FIRST && same_task(&rows[i], &rows[j]) &&
                        is_verified(&rows[j].config, search);
        assert_true(is_served);
    }
}

static size_t least_side(const struct record *r)
{
    return r->m < r->n ? r->m : r->n;
}

static size_t longer_side(const struct record *r)
{
    return r->m < r->n ? r->n : r->m;
}

/* Rows of a phase with the longer side and K of a deep shape of that phase, but with fewer rows or
 * columns, at most so many. */
static unsigned count_beside_deep(enum record_kind kind, size_t most)
{
    const struct record *rows = tuner.records.rows;
    unsigned num = 0;
    for (size_t i = 0; i < tuner.records.num; i++) {
        bool is_beside = false;
        if (rows[i].kind != kind || least_side(&rows[i]) > most)
            continue;
        for (size_t j = 0; j < tuner.records.num && !is_beside; j++)
            is_beside = rows[j].kind == kind && rows[j].k == rows[i].k &&
                        draw_kind_of(rows[j].shape) == DRAW_DEEP &&
                        longer_side(&rows[i]) == longer_side(&rows[j]) &&
                        least_side(&rows[i]) < least_side(&rows[j]);
        num += is_beside;
    }
    return num;
}

/* Beside deep shapes stand vectors, on a GPU, and in the matrix shapes of few rows or columns. */
static void few_rows_are_timed_beside_deep_shapes(void **state)
{
    (void) state;
    for (int gpu = 0; gpu < 2; gpu++) {
        is_cpu = !gpu;
        make_kin(60);
        assert_true(run_made(60));
        assert_int_equal(count_beside_deep(RECORD_FIRST, 1) > 0, gpu);
        assert_true(count_beside_deep(RECORD_MATRIX, 8) > 0);
    }
}

/* No thin shape that is drawn is a vector. A GPU times vectors beside them, a CPU does not. */
static void vectors_are_timed_first_on_a_gpu(void **state)
{
    (void) state;
    for (int gpu = 0; gpu < 2; gpu++) {
        unsigned num[2] = { 0, 0 };
        is_cpu = !gpu;
        make_kin(60);
        assert_true(run_made(60));
        for (size_t i = 0; i < tuner.records.num; i++) {
            const struct record *r = &tuner.records.rows[i];
            if (r->kind == RECORD_FIRST) {
                num[0] += r->m == 1 && r->n > 1;
                num[1] += r->n == 1 && r->m > 1;
            }
        }
        assert_int_equal(num[0] > 0, gpu);
        assert_int_equal(num[1] > 0, gpu);
    }
}

/* Of the presets timed at the first shape, at least every second is of another family than the one
 * before it. */
static void families_take_turns_with_their_presets(void **state)
{
    enum { FIRST_ROWS = 64 };
    const struct family *last = NULL;
    unsigned changes = 0, num = 0;
    (void) state;
    is_cpu = false;
    make_kin(60);
    num_kin = 0;
    assert_true(run_made(60));
    const size_t from = first_row(RECORD_FIRST);
    for (size_t i = from; i < from + FIRST_ROWS && i < tuner.records.num; i++) {
        const struct record *r = &tuner.records.rows[i];
        if (r->kind != RECORD_FIRST || !same_task(r, &tuner.records.rows[from]))
            break;
        changes += r->config.family != last;
        last = r->config.family;
        num++;
    }
    assert_in_range(num, 4, FIRST_ROWS);
    assert_in_range(changes, num / 2, num);
}

/* ---- Shapes ---- */

static bool is_own(const struct record *r)
{
    for (size_t i = 0; i < tuner.num_own; i++) {
        const struct shape own = tuner.own[i].shape;
        if (r->m == own.m && r->n == own.n && r->k == own.k)
            return true;
    }
    return false;
}

static void own_shapes_are_timed_for_all_pairs_and_pinned(void **state)
{
    static const struct own_shape own[] = {
        { { 321, 123, 77 }, NULL, -1, 2 },
        { { 99, 1000, 45 }, NULL, -1, 1 },
    };
    static struct winners winners;
    char error[FAMILY_ERROR_BYTES];
    (void) state;
    make_kin(60);
    tuner.own = own;
    tuner.num_own = 2;
    assert_true(run_made(60));
    assert_int_equal(count_tasks(RECORD_OWN), 2 * NUM_PAIRS);
    for (size_t i = 0; i < tuner.records.num; i++) {
        const struct record *r = &tuner.records.rows[i];
        assert_true(r->kind != RECORD_OWN || is_own(r));
        assert_false(r->kind == RECORD_HELD && is_own(r));
    }
    assert_true(select_within(&tuner.records, "own", NULL, &winners, error));
    assert_int_equal(winners.num_pins, 2);
    for (unsigned i = 0; i < winners.num_pins; i++)
        for (int pair = 0; pair < NUM_PAIRS; pair++)
            assert_in_range(winners.pins[i].recipe[pair], 0, winners.num_recipes - 1);
}

/* What tells what choosing costs was seen by nothing that chooses. */
static void held_shapes_are_used_for_nothing_else(void **state)
{
    (void) state;
    make_kin(60);
    assert_true(run_made(60));
    assert_in_range(count_tasks(RECORD_HELD), DRAW_NUM_CLASSES, 60);
    assert_in_range(count_tasks(RECORD_MATRIX), DRAW_NUM_CLASSES, 400);
    for (size_t i = 0; i < tuner.records.num; i++)
        for (size_t j = 0; j < tuner.records.num && tuner.records.rows[i].kind == RECORD_HELD; j++)
            assert_false(tuner.records.rows[j].kind != RECORD_HELD &&
                         tuner.records.rows[j].kind != RECORD_AGAIN &&
                         same_task(&tuner.records.rows[i], &tuner.records.rows[j]));
}

static void a_slow_device_is_given_small_shapes(void **state)
{
    (void) state;
    rate = 1e6;
    make_tuner(search_find("random"), 20);
    tuner.generic = list_generic;
    assert_true(run_made(20));
    assert_true(count_rows(RECORD_FIRST, NULL) && count_rows(RECORD_MATRIX, NULL));
    assert_true(most_operations() <= 0.01 * 20 * rate);
    rate = 1e12;
    make_tuner(search_find("random"), 20);
    tuner.generic = list_generic;
    assert_true(run_made(20));
    assert_true(most_operations() > 1e9 && most_operations() <= 0.01 * 20 * rate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(near_copies_among_the_known_are_left_out),
        TEST(what_ranks_best_is_diverse),
        TEST(a_gpu_tries_its_presets),
        TEST(a_gpu_is_given_what_it_can_run),
        TEST(a_slow_one_counts_as_its_time),
        TEST(a_failure_costs_infinitely_much),
        TEST(the_best_fifty_are_evaluated_again_at_every_shape),
        TEST(the_winner_of_all_shapes_is_a_finalist),
        TEST(others_evaluate_nothing_again),
        TEST(relatives_recipes_come_before_any_search),
        TEST(relatives_recipes_for_other_shapes_are_verified),
        TEST(relatives_recipes_are_ordered_by_predicted_times_where_none_are),
        TEST(what_stores_triangles_is_verified_early),
        TEST(predicted_times_of_relatives_are_not_compared),
        TEST(relatives_recipes_that_fail_come_last),
        TEST(a_cpu_verifies_what_it_times_first),
        TEST(every_class_is_served_before_the_search),
        TEST(vectors_are_timed_first_on_a_gpu),
        TEST(few_rows_are_timed_beside_deep_shapes),
        TEST(families_take_turns_with_their_presets),
        TEST(own_shapes_are_timed_for_all_pairs_and_pinned),
        TEST(held_shapes_are_used_for_nothing_else),
        TEST(a_slow_device_is_given_small_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
