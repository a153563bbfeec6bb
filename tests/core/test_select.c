/* test_select.c: which recipes a bundle gets, generator/core/select.c, on journals made by hand. */
#include "laws.h"
#include "platform.h"
#include "predict.h"
#include "select.h"

#include <math.h>
#include <stdio.h>

static struct winners winners;

static void select_all(struct records *records)
{
    char error[FAMILY_ERROR_BYTES] = "";
    if (!select_within(records, "test", NULL, &winners, error))
        fail_msg("%s", error);
    records_free(records);
}

static bool is_chosen(int config, int *number)
{
    struct config wanted;
    char error[FAMILY_ERROR_BYTES];
    assert_true(config_parse(configs[config], &wanted, error));
    for (unsigned i = 0; i < winners.num_recipes; i++)
        if (config_equal(&winners.recipes[i].config, &wanted)) {
            *number = (int) i;
            return true;
        }
    return false;
}

/* Exactly these; a bit each. */
static void check_chosen(unsigned set)
{
    int number;
    for (int config = A; config <= LIKE_A; config++)
        if (is_chosen(config, &number) != (set >> config & 1))
            fail_msg("%s is %schosen", configs[config], set >> config & 1 ? "not " : "");
}

static void check_nothing_ships(struct records *records)
{
    char error[FAMILY_ERROR_BYTES] = "";
    assert_false(select_within(records, "test", NULL, &winners, error));
    assert_string_equal(error,
            "nothing in the journal may ship: it passed no edge classes, or is not faster than "
            "generic");
    records_free(records);
}

/* ---- The choice ---- */

static void what_failed_an_edge_does_not_ship(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    check_nothing_ships(&records);
    begin(&records);
    edges(&records, A, 0);
    check_nothing_ships(&records); /* what was never timed */
    for (unsigned failed = 1; failed < 16; failed += 7) {
        begin(&records);
        edges(&records, A, failed);
        add_squares(&records, A, (struct law){ 1, 1 });
        check_nothing_ships(&records);
    }
}

static void the_fastest_that_passed_is_chosen(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    edges(&records, A, 4);
    edges(&records, B, 0);
    edges(&records, C, 0);
    add_squares(&records, A, (struct law){ 1, 1 });
    add_squares(&records, B, (struct law){ 3, 3 });
    add_squares(&records, C, (struct law){ 2, 2 });
    select_all(&records);
    check_chosen(1 << C);
    assert_true(winners.recipes[0].is_timed);
    assert_true(kiln_time_is_sound(&winners.recipes[0].time));
    assert_true(winners.recipes[0].hash[0] && winners.recipes[0].hash[3]);
    assert_int_equal(winners.num_pins, 0);
    assert_int_equal(winners.num_losses, 0);
}

static const struct law for_large = { 50, 1 }, for_small = { 1, 100 }, between = { 40, 60 };

static void a_cover_of_complements(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    for (int config = A; config <= C; config++)
        edges(&records, config, 0);
    add_squares(&records, A, for_large);
    add_squares(&records, B, for_small);
    add_squares(&records, C, between);
    select_all(&records);
    check_chosen(1 << A | 1 << B);
}

/* A recipe counts for where the prediction takes it. C is fastest at one shape, of which its times
 * elsewhere tell nothing: it would not be taken there. */
static void what_is_not_dispatched_is_worth_nothing(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, C, 0);
    for (int i = 0; i < 6; i++) {
        add_squares(&records, A, (struct law){ 10, 10 });
        add_squares(&records, C, (struct law){ 20, 20 });
    }
    add(&records, RECORD_MATRIX, "single", A, 0, 700, 700, 700,
            law_seconds((struct law){ 10, 10 }, 700, 700));
    add(&records, RECORD_MATRIX, "single", C, 0, 700, 700, 700,
            0.8 * law_seconds((struct law){ 10, 10 }, 700, 700));
    select_all(&records);
    check_chosen(1 << A);
}

/* A is best everywhere but at small ones, where B takes this part of its time. */
static void time_where_b_is_better(struct records *records, double part)
{
    const struct law a = { 10, 100 }, b = { 10 * part, 200 };
    edges(records, A, 0);
    edges(records, B, 0);
    add_squares(records, A, a);
    add_squares(records, B, b);
}

/* Another recipe costs size and must be worth it. */
static void a_little_faster_is_not_enough(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    time_where_b_is_better(&records, 0.98);
    select_all(&records);
    check_chosen(1 << A);
    begin(&records);
    time_where_b_is_better(&records, 0.7);
    select_all(&records);
    check_chosen(1 << A | 1 << B);
}

/* Where a CPU would do with one recipe, other devices get a second for less. */
static void a_gpu_is_given_more(void **state)
{
    (void) state;
    unsigned num[2] = { 0, 0 };
    for (int percent = 80; percent < 100; percent++)
        for (int is_cpu = 0; is_cpu < 2; is_cpu++) {
            struct records records;
            begin(&records);
            records.head.facts.value[FACT_IS_CPU] = is_cpu;
            time_where_b_is_better(&records, percent / 100.0);
            select_all(&records);
            num[is_cpu] += winners.num_recipes;
        }
    assert_true(num[0] > num[1]);
}

static void add_all_pairs(struct records *records, int config, size_t m, size_t n, size_t k,
        struct law law)
{
    for (int pair = 0; pair < NUM_PAIRS; pair++)
        add(records, RECORD_MATRIX, "single", config, pair, m, n, k, law_seconds(law, m, n));
}

/* A is best alone and chosen first; beside B, which takes those with a small C, C does better than
 * A, but not by so much that all three were worth it. All take as many operations, so that no
 * others are drawn, between them, at which A would be worth its place. */
static void the_first_choice_may_be_exchanged(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    for (int config = A; config <= C; config++)
        edges(&records, config, 0);
    for (size_t i = 0; i < 8; i++) {
        const size_t small = 16 + 8 * i, large = 2048 + 256 * i, ops = (size_t) 1 << 30;
        const size_t deep = ops / small / small, flat = ops / large / large;
        add_all_pairs(&records, A, small, small, deep, (struct law){ 11, 11 });
        add_all_pairs(&records, B, small, small, deep, (struct law){ 10, 200 });
        add_all_pairs(&records, C, small, small, deep, (struct law){ 200, 10.9 });
        add_all_pairs(&records, A, large, large, flat, (struct law){ 11, 11 });
        add_all_pairs(&records, B, large, large, flat, (struct law){ 10, 200 });
        add_all_pairs(&records, C, large, large, flat, (struct law){ 0, 10 });
    }
    select_all(&records);
    check_chosen(1 << B | 1 << C);
}

/* As many problems of either size, and one recipe is all that pays: the loss at the large ones
 * counts more. */
static void large_problems_count_more(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, LIKE_A, 0);
    for (size_t i = 0; i < 8; i++) {
        const size_t small = 32 + 4 * i, large = 2048 + 128 * i;
        add_law(&records, RECORD_MATRIX, A, small, small, small, (struct law){ 10, 10 });
        add_law(&records, RECORD_MATRIX, LIKE_A, small, small, small, (struct law){ 10.03, 10 });
        add_law(&records, RECORD_MATRIX, A, large, large, large, (struct law){ 10, 10 });
        add_law(&records, RECORD_MATRIX, LIKE_A, large, large, large, (struct law){ 10.03, 9.97 });
    }
    select_all(&records);
    check_chosen(1 << LIKE_A);
}

/* Products of a vector and a matrix do little and move as much as others: they count by that. */
static void memory_traffic_counts(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    for (size_t i = 0; i < 8; i++) {
        const size_t side = 1024 + 128 * i, small = 128 + 8 * i;
        add_law(&records, RECORD_MATRIX, A, small, small, small, (struct law){ 10, 10 });
        add_law(&records, RECORD_MATRIX, B, small, small, small, (struct law){ 10.03, 10 });
        add_law(&records, RECORD_MATRIX, A, 1, side, side, (struct law){ 10, 10 });
        add_law(&records, RECORD_MATRIX, B, 1, side, side, (struct law){ 9.97, 10 });
    }
    select_all(&records);
    check_chosen(1 << B);
}

/* A time that is missing counts as bad: who was measured at a few shapes does not win for ever. */
static void missing_times_count_against(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    edges(&records, B, 0);
    edges(&records, A, 0);
    add_squares(&records, A, (struct law){ 10, 10 });
    for (size_t size = 16; size <= 128; size *= 2)
        add_law(&records, RECORD_MATRIX, B, size, size, size, (struct law){ 9, 9 });
    select_all(&records);
    check_chosen(1 << A); /* B would be taken everywhere */
}

/* Small squares were measured, at which A is faster. At large ones of the search B is predicted
 * to be four times as fast. */
static void predicted_times_have_a_say(void **state)
{
    const struct law a = { 10, 100 }, b = { 20, 20 };
    int number;
    (void) state;
    for (int searched = 0; searched < 2; searched++) {
        struct records records;
        begin(&records);
        edges(&records, A, 0);
        edges(&records, B, 0);
        for (size_t size = 16; size <= 128; size *= 2)
            for (int pair = 0; pair < NUM_PAIRS; pair++) {
                add(&records, RECORD_MATRIX, "single", A, pair, size, size, size,
                        law_seconds(a, size, size));
                add(&records, RECORD_MATRIX, "single", B, pair, size, size, size,
                        law_seconds(b, size, size));
            }
        for (size_t size = 1024; searched && size <= 4096; size += 512) {
            add_law(&records, RECORD_SEARCH, A, size, size, size, a);
            add_law(&records, RECORD_SEARCH, B, size, size, size, b);
        }
        select_all(&records);
        assert_int_equal(is_chosen(B, &number), searched);
    }
}

/* Who was left out at one shape, because it seemed slow there, may serve the others. */
static void one_missing_time_does_not_spoil_the_rest(void **state)
{
    int number;
    (void) state;
    struct records records;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    add_squares(&records, A, (struct law){ 10, 10 });
    for (size_t size = 16; size <= 2048; size *= 2)
        if (size != 256)
            add_law(&records, RECORD_MATRIX, B, size, size, size, (struct law){ 8, 8 });
    select_all(&records);
    assert_true(is_chosen(B, &number));
}

static void failed_measurements_are_no_times(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    add_squares(&records, A, (struct law){ 10, 10 });
    add_squares(&records, B, (struct law){ 5, 5 });
    for (size_t i = records.num - 8; i < records.num; i++)
        strcpy(records.rows[i].outcome, "build");
    select_all(&records);
    check_chosen(1 << A);
}

/* A run that was stopped before the matrix ships what the search found, without a time for it where
 * a single shape was searched. */
static void a_search_alone_will_do(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    add(&records, RECORD_SEARCH, "single", A, 0, 1024, 1024, 1024, 2);
    add(&records, RECORD_SEARCH, "single", B, 0, 1024, 1024, 1024, 1);
    add(&records, RECORD_SEARCH, "single", C, 0, 1024, 1024, 1024, 0.5);
    select_all(&records);
    check_chosen(1 << B);
    assert_false(winners.recipes[0].is_timed);
    assert_int_equal(winners.num_losses, 0);
    begin(&records);
    edges(&records, A, 0);
    for (size_t size = 64; size <= 512; size *= 2)
        add_law(&records, RECORD_FIRST, A, size, size, size, for_small);
    select_all(&records);
    assert_true(winners.recipes[0].is_timed);
}

static void precisions_are_apart(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    edges(&records, A, 0);
    add_squares(&records, A, for_small);
    for (int pair = 0; pair < NUM_PAIRS; pair++)
        add(&records, RECORD_EDGES, "half", B, pair, 0, 0, 0, 0);
    for (size_t size = 16; size <= 2048; size *= 2) {
        add(&records, RECORD_MATRIX, "half", B, 0, size, size, size, 1);
        add(&records, RECORD_MATRIX, "half", A, 0, size, size, size, 0.1);
    }
    add(&records, RECORD_OWN, "half", B, 0, 7, 7, 7, 1);
    select_all(&records);
    assert_int_equal(winners.num_recipes, 2);
    assert_string_equal(winners_recipe(&winners, precision_find("half"), 0)->config.family->name,
            "direct");
    assert_string_equal(winners_recipe(&winners, precision_find("single"), 0)->config.family->name,
            "packed");
    assert_int_equal(winners.num_pins, 1);
    assert_ptr_equal(winners.pins[0].precision, precision_find("half"));
    assert_int_equal(winners.pins[0].recipe[0], 0); /* counted within the precision */
}

/* ---- The application's own shapes ---- */

static const struct winner_pin *pin_at(size_t m, size_t batch)
{
    for (unsigned i = 0; i < winners.num_pins; i++)
        if (winners.pins[i].m == m && winners.pins[i].batch == batch)
            return &winners.pins[i];
    fail_msg("no pin at %zu batch=%zu", m, batch);
    return NULL;
}

/* What is fastest there is chosen for it alone, and for the pairs that were measured. */
static void own_shapes_are_pinned(void **state)
{
    (void) state;
    struct records records;
    int a = -1, c = -1;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, C, 0);
    edges(&records, D, 4);
    add_squares(&records, A, (struct law){ 10, 10 });
    add_squares(&records, C, (struct law){ 20, 20 });
    add_squares(&records, D, (struct law){ 20, 20 });
    for (int pair = 0; pair < 2; pair++) {
        add(&records, RECORD_OWN, "single", A, pair, 700, 600, 500, 2e-6);
        add(&records, RECORD_OWN, "single", C, pair, 700, 600, 500, pair == 1 ? 1e-6 : 3e-6);
        add(&records, RECORD_OWN, "single", D, pair, 700, 600, 500, 1e-7); /* failed an edge */
    }
    add(&records, RECORD_OWN, "single", C, 3, 33, 34, 35, 1e-6);
    for (int config = A; config <= C; config += C - A) {
        add(&records, RECORD_OWN, "single", config, 0, 700, 600, 500, config == C ? 1e-5 : 2e-5);
        records.rows[records.num - 1].batch = 40;
    }
    select_all(&records);
    check_chosen(1 << A | 1 << C);
    assert_true(is_chosen(A, &a) && is_chosen(C, &c));
    assert_int_equal(winners.num_pins, 3);
    assert_int_equal(pin_at(700, 40)->recipe[0], c);
    assert_int_equal(pin_at(700, 40)->recipe[1], -1);
    assert_int_equal(pin_at(700, 0)->n, 600);
    assert_int_equal(pin_at(700, 0)->k, 500);
    assert_int_equal(pin_at(700, 0)->recipe[0], a);
    assert_int_equal(pin_at(700, 0)->recipe[1], c);
    assert_int_equal(pin_at(700, 0)->recipe[2], -1);
    assert_int_equal(pin_at(33, 0)->recipe[3], c);
    assert_int_equal(pin_at(33, 0)->recipe[0], -1);
}

/* A listing shows what the bundle takes: by its pins, and else by the predictions. */
static void a_list_shows_what_is_taken(void **state)
{
    (void) state;
    struct records records;
    struct selection *list = NULL;
    unsigned num = 0;
    int a = -1, c = -1;
    char error[FAMILY_ERROR_BYTES];
    begin(&records);
    edges(&records, A, 0);
    edges(&records, C, 0);
    for (int i = 0; i < 6; i++) {
        add_squares(&records, A, (struct law){ 10, 10 });
        add_squares(&records, C, (struct law){ 20, 20 });
    }
    add(&records, RECORD_OWN, "single", A, 0, 700, 700, 700, 5e-6);
    add(&records, RECORD_OWN, "single", C, 0, 700, 700, 700, 4e-6);
    add(&records, RECORD_HELD, "single", A, 0, 701, 701, 701, 5e-6);
    add(&records, RECORD_HELD, "single", C, 0, 701, 701, 701, 4e-6);
    assert_true(select_within(&records, "test", NULL, &winners, error));
    assert_true(is_chosen(A, &a) && is_chosen(C, &c));
    assert_true(select_list(&records, &winners, precision_find("single"), RECORD_OWN, &list, &num));
    assert_int_equal(num, 1);
    assert_true(list[0].m == 700 && list[0].recipe == c && list[0].seconds == 4e-6);
    assert_true(list[0].best == 4e-6);
    free(list);
    assert_true(
            select_list(&records, &winners, precision_find("single"), RECORD_HELD, &list, &num));
    assert_int_equal(num, 1);
    assert_true(list[0].recipe == a && list[0].seconds == 5e-6 && list[0].best == 4e-6);
    free(list);
    assert_true(select_list(&records, &winners, precision_find("double"), RECORD_OWN, &list, &num));
    assert_int_equal(num, 0);
    assert_null(list);
    records_free(&records);
}

/* ---- Losses ---- */

static const struct winner_loss *loss_of(const char *class)
{
    return winners_loss(&winners, precision_find("single"), class);
}

/* At what was held out, of each kind of shape: of what the predictions take, over the fastest. */
static void losses_are_those_of_the_dispatch(void **state)
{
    static const struct {
        size_t m, n, k;
        const char *class;
        double loss;
    } rows[] = {
        { 1000, 8, 1000, "thin", 2 },
        { 8, 1000, 1000, "thin", 1 },
        { 100, 100, 4000, "deep", 1.5 },
        { 900, 900, 900, "even", 1 },
        { 901, 901, 901, "even", 1 },
        { 902, 902, 902, "even", 4 },
    };
    (void) state;
    struct records records;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    add_squares(&records, A, (struct law){ 10, 10 });
    add_squares(&records, B, (struct law){ 20, 20 });
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        add(&records, RECORD_HELD, "single", A, 0, rows[i].m, rows[i].n, rows[i].k,
                1e-6 * rows[i].loss);
        add(&records, RECORD_HELD, "single", B, 0, rows[i].m, rows[i].n, rows[i].k,
                rows[i].loss > 1 ? 1e-6 : 2e-6);
    }
    select_all(&records);
    check_chosen(1 << A);
    assert_int_equal(winners.num_losses, 4);
    assert_int_equal(loss_of("thin")->shapes, 2);
    assert_true(fabs(loss_of("thin")->mean - sqrt(2)) < 1e-4);
    assert_true(loss_of("thin")->worst == 2);
    assert_int_equal(loss_of("deep")->shapes, 1);
    assert_true(loss_of("deep")->mean == 1.5 && loss_of("deep")->p95 == 1.5);
    assert_null(loss_of("flat"));
    assert_int_equal(loss_of("even")->shapes, 3);
    assert_true(fabs(loss_of("even")->mean - pow(4, 1 / 3.0)) < 1e-4);
    assert_int_equal(loss_of("all")->shapes, 6);
    assert_true(fabs(loss_of("all")->mean - pow(2 * 1.5 * 4, 1 / 6.0)) < 1e-4);
    assert_true(loss_of("all")->worst == 4);
}

/* Of a hundred the 95th stands for what is lost by few. */
static void the_95th_percentile_is_near_the_end(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    add_squares(&records, A, (struct law){ 10, 10 });
    add_squares(&records, B, (struct law){ 20, 20 });
    for (size_t i = 0; i < 100; i++) {
        add(&records, RECORD_HELD, "single", A, 0, 500 + i, 500, 500, 1e-6 * (double) (100 + i));
        add(&records, RECORD_HELD, "single", B, 0, 500 + i, 500, 500, 1e-4);
    }
    select_all(&records);
    assert_int_equal(loss_of("all")->shapes, 100);
    assert_true(loss_of("all")->p95 == 1.94);
    assert_true(loss_of("all")->worst == 1.99);
}

/* ---- The generic bundle ---- */

/* Generic is measured against, and counts for nothing as long as it is slower. */
static void what_beats_generic_ships(void **state)
{
    (void) state;
    struct records records;
    struct select_generic against;
    begin(&records);
    edges(&records, A, 0);
    add_squares(&records, A, (struct law){ 10, 10 });
    add(&records, RECORD_GENERIC, "single", B, 0, 1024, 1024, 1024, 1);
    add(&records, RECORD_GENERIC, "single", B, 0, 64, 64, 64, 6e-6);
    add(&records, RECORD_GENERIC, "single", B, 0, 7, 7, 7, 1e-7); /* compared with nothing */
    assert_true(select_generic(&records, precision_find("single"), &against));
    assert_int_equal(against.shapes, 2);
    assert_int_equal(against.slower, 1);
    assert_int_equal(against.unverified, 1);
    assert_true(against.factor > 0 && against.factor < 1 && !against.is_left);
    select_all(&records);
    check_chosen(1 << A);
}

/* Where its recipe won and was verified, it is one of the recipes, if the predictions take it. */
static void generic_ships_where_it_wins(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    add_squares(&records, A, for_large);
    for (size_t size = 16; size <= 2048; size *= 2)
        add_law(&records, RECORD_GENERIC, B, size, size, size, for_small);
    select_all(&records);
    check_chosen(1 << A | 1 << B);
}

/* Where a recipe of generic is one of the recipes, what loses to it does so by the predictions. */
static void a_lead_of_generic_may_be_mispredicted(void **state)
{
    (void) state;
    struct records records;
    struct select_generic against;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    add_squares(&records, A, (struct law){ 10, 10 });
    for (size_t size = 290; size <= 310; size++) {
        const struct law of_b = size == 300 ? (struct law){ 8, 8 } : (struct law){ 20, 20 };
        add_law(&records, RECORD_MATRIX, A, size, size, size, (struct law){ 10, 10 });
        add_law(&records, RECORD_GENERIC, B, size, size, size, of_b);
    }
    assert_true(select_generic(&records, precision_find("single"), &against));
    assert_int_equal(against.slower, 1);
    assert_int_equal(against.unverified, 0);
    records_free(&records);
}

/* Also where that is worth little on the whole; not for noise. */
static void a_lead_of_generic_is_kept(void **state)
{
    (void) state;
    for (int is_clear = 0; is_clear < 2; is_clear++) {
        struct records records;
        begin(&records);
        edges(&records, A, 0);
        edges(&records, B, 0);
        for (size_t size = 1000; size < 1400; size++)
            add_law(&records, RECORD_MATRIX, A, size, size, size, (struct law){ 10, 10 });
        add_squares(&records, A, (struct law){ 10, 10 });
        for (size_t size = 16; size <= 128; size *= 2)
            add_law(&records, RECORD_GENERIC, B, size, size, size,
                    (struct law){ is_clear ? 9.3 : 9.7, 10 });
        for (size_t size = 1024; size <= 2048; size *= 2)
            add_law(&records, RECORD_GENERIC, B, size, size, size, (struct law){ 10, 100 });
        select_all(&records);
        check_chosen(1 << A | (is_clear ? 1 << B : 0));
    }
}

/* What loses to it on the whole does not ship, and the rest of the bundle does. */
static void what_loses_to_generic_does_not_ship(void **state)
{
    (void) state;
    struct records records;
    struct select_generic against;
    char error[FAMILY_ERROR_BYTES];
    begin(&records);
    edges(&records, A, 0);
    add_squares(&records, A, (struct law){ 40, 40 });
    for (size_t size = 16; size <= 2048; size *= 2)
        add_law(&records, RECORD_GENERIC, B, size, size, size, (struct law){ 10, 10 });
    assert_true(select_generic(&records, precision_find("single"), &against));
    assert_true(against.is_left && fabs(against.factor - 4) < 1e-9);
    assert_int_equal(against.shapes, 8);
    assert_int_equal(against.slower, 8);
    assert_false(select_within(&records, "test", NULL, &winners, error));
    assert_int_equal(winners.num_recipes, 0);
    for (int pair = 0; pair < NUM_PAIRS; pair++)
        add(&records, RECORD_EDGES, "double", C, pair, 0, 0, 0, 0);
    for (size_t size = 16; size <= 2048; size *= 2)
        add(&records, RECORD_MATRIX, "double", C, 0, size, size, size, 1);
    select_all(&records);
    assert_int_equal(winners.num_recipes, 1);
    assert_string_equal(winners.recipes[0].precision->name, "double");
}

/* A bundle of generic's own recipes alone could only be worse than all of generic. */
static void generic_alone_does_not_ship(void **state)
{
    (void) state;
    struct records records;
    struct select_generic against;
    begin(&records);
    edges(&records, B, 0);
    add_squares(&records, B, for_small);
    add_law(&records, RECORD_GENERIC, B, 64, 64, 64, for_small);
    assert_true(select_generic(&records, precision_find("single"), &against));
    assert_true(against.is_left);
    check_nothing_ships(&records);
}

/* Where generic cannot serve, what it beats does. */
static void what_serves_alone_ships(void **state)
{
    (void) state;
    struct records records;
    struct select_budget budget = { .is_alone = true };
    char error[FAMILY_ERROR_BYTES];
    begin(&records);
    edges(&records, A, 0);
    add_squares(&records, A, (struct law){ 40, 40 });
    for (size_t size = 16; size <= 2048; size *= 2)
        add_law(&records, RECORD_GENERIC, B, size, size, size, (struct law){ 10, 10 });
    assert_true(select_within(&records, "test", &budget, &winners, error));
    records_free(&records);
    assert_int_equal(winners.num_recipes, 1);
    begin(&records);
    edges(&records, B, 0);
    add_squares(&records, B, for_small);
    add_law(&records, RECORD_GENERIC, B, 64, 64, 64, for_small);
    assert_true(select_within(&records, "test", &budget, &winners, error));
    records_free(&records);
    assert_int_equal(winners.num_recipes, 1);
}

/* ---- The bundle's head ---- */

/* A driver that compiles in the process is named with its version; others are not. */
static void a_driver_in_the_process_is_named(void **state)
{
    static const char *const in_process[] = { "Portable Computing Language", "rusticl", "Oclgrind",
        "Portable*" };
    (void) state;
    for (size_t i = 0; i < sizeof in_process / sizeof in_process[0]; i++)
        assert_true(kiln_compiles_in_process(in_process[i]));
    assert_false(kiln_compiles_in_process("NVIDIA CUDA"));
    assert_false(kiln_compiles_in_process(""));
    for (int i = 0; i < 2; i++) {
        struct records records;
        begin(&records);
        snprintf(records.head.facts.platform, sizeof records.head.facts.platform, "%s",
                i ? "NVIDIA CUDA" : "Portable Computing Language");
        snprintf(records.head.facts.driver, sizeof records.head.facts.driver, "3.1+debian");
        edges(&records, A, 0);
        add_squares(&records, A, for_small);
        select_all(&records);
        assert_string_equal(winners.driver, i ? "" : "3.1+debian");
    }
}

static void bundles_are_named_and_matched(void **state)
{
    (void) state;
    struct records records;
    char error[FAMILY_ERROR_BYTES];
    begin(&records);
    strcpy(records.head.facts.platform, "A platform");
    strcpy(records.head.facts.device, "Device (TM) X-99, 2nd ");
    edges(&records, A, 0);
    add_squares(&records, A, for_small);
    assert_true(select_within(&records, NULL, NULL, &winners, error));
    assert_string_equal(winners.name, "device-tm-x-99-2nd");
    assert_string_equal(winners.platform, "A platform");
    assert_string_equal(winners.device, "Device (TM) X-99, 2nd ");
    assert_non_null(strstr(winners.provenance, "Device (TM) X-99"));
    assert_memory_equal(winners.facts.value, records.head.facts.value, sizeof winners.facts.value);
    records_free(&records);
}

static void a_bad_journal_is_refused(void **state)
{
    (void) state;
    char error[FAMILY_ERROR_BYTES];
    assert_false(select_winners("kiln-journal\t7\n", "test", NULL, &winners, error));
    assert_string_equal(error, "line 1: not a kiln-journal, version 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_failed_an_edge_does_not_ship),
        cmocka_unit_test(the_fastest_that_passed_is_chosen),
        cmocka_unit_test(a_cover_of_complements),
        cmocka_unit_test(what_is_not_dispatched_is_worth_nothing),
        cmocka_unit_test(a_little_faster_is_not_enough),
        cmocka_unit_test(a_gpu_is_given_more),
        cmocka_unit_test(the_first_choice_may_be_exchanged),
        cmocka_unit_test(large_problems_count_more),
        cmocka_unit_test(memory_traffic_counts),
        cmocka_unit_test(missing_times_count_against),
        cmocka_unit_test(predicted_times_have_a_say),
        cmocka_unit_test(one_missing_time_does_not_spoil_the_rest),
        cmocka_unit_test(failed_measurements_are_no_times),
        cmocka_unit_test(a_search_alone_will_do),
        cmocka_unit_test(precisions_are_apart),
        cmocka_unit_test(own_shapes_are_pinned),
        cmocka_unit_test(a_list_shows_what_is_taken),
        cmocka_unit_test(losses_are_those_of_the_dispatch),
        cmocka_unit_test(the_95th_percentile_is_near_the_end),
        cmocka_unit_test(what_beats_generic_ships),
        cmocka_unit_test(generic_ships_where_it_wins),
        cmocka_unit_test(a_lead_of_generic_may_be_mispredicted),
        cmocka_unit_test(a_lead_of_generic_is_kept),
        cmocka_unit_test(what_loses_to_generic_does_not_ship),
        cmocka_unit_test(generic_alone_does_not_ship),
        cmocka_unit_test(what_serves_alone_ships),
        cmocka_unit_test(a_driver_in_the_process_is_named),
        cmocka_unit_test(bundles_are_named_and_matched),
        cmocka_unit_test(a_bad_journal_is_refused),
    };
    return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
