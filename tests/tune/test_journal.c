/* test_journal.c: the journal as a file: locked, resumed, never half-written,
 * generator/tune/journal.c. The text in it is test_record.c's matter. */
#include "journal.h"
#include "core/files.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/kiln-journal-XXXXXX";
static char path[64], old_path[72];

static struct records records;
static char error[FAMILY_ERROR_BYTES];

static int make_folder(void **state)
{
    (void) state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/journal.tsv", folder);
    snprintf(old_path, sizeof old_path, "%s.old1", path);
    return 0;
}

static int remove_folder(void **state)
{
    (void) state;
    return rmdir(folder);
}

static int clean(void **state)
{
    (void) state;
    records_free(&records);
    unlink(path);
    unlink(old_path);
    return 0;
}

static struct journal_head make_head(void)
{
    struct journal_head head = { .generator = 77 };
    facts_minimal(&head.facts);
    return head;
}

static struct record make_row(size_t size)
{
    struct record row = { .kind = RECORD_SEARCH,
        .precision = precision_find("single"),
        .m = size,
        .n = size,
        .k = size,
        .seconds = 0.5,
        .cost = 0.25,
        .outcome = "ok" };
    config_default(families[0], &row.config);
    return row;
}

static struct journal *open_as(const struct journal_head *head, bool set_aside)
{
    records_free(&records);
    error[0] = '\0';
    return journal_open(path, head, set_aside, &records, error);
}

static struct journal *open_good(void)
{
    const struct journal_head head = make_head();
    struct journal *journal = open_as(&head, false);
    if (!journal)
        fail_msg("%s", error);
    return journal;
}

static void append(struct journal *journal, size_t size)
{
    const struct record row = make_row(size);
    if (!journal_append(journal, &row, 1, error))
        fail_msg("%s", error);
}

/* A journal of some rows; its bytes, freed by the caller. */
static char *make_journal(size_t rows)
{
    struct journal *journal = open_good();
    for (size_t i = 1; i <= rows; i++)
        append(journal, i);
    journal_close(journal);
    char *text = files_read(path, error);
    assert_non_null(text);
    return text;
}

static void put(const char *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static void check_file(const char *of, const char *expected, size_t len)
{
    char *text = files_read(of, error);
    assert_non_null(text);
    assert_int_equal(strlen(text), len);
    assert_memory_equal(text, expected, len);
    free(text);
}

static void rows_come_back(void **state)
{
    (void) state;
    char *text = make_journal(3);
    struct journal *journal = open_good();
    const struct record row = make_row(2);
    assert_int_equal(records.num, 3);
    assert_true(record_same_evaluation(&records.rows[1], &row));
    append(journal, 4);
    journal_close(journal);
    journal = open_good();
    assert_int_equal(records.num, 4);
    assert_int_equal(records.rows[3].m, 4);
    journal_close(journal);
    free(text);
}

/* Cut anywhere, a journal opens with its whole rows, and the torn rest is gone from the file. */
static void what_a_kill_tore_is_cut_off(void **state)
{
    (void) state;
    char *text = make_journal(2);
    const size_t begin = (size_t) (strstr(text, "\nbegin\n") + 7 - text);
    const size_t first = begin + strcspn(text + begin, "\n") + 1, all = strlen(text);
    for (size_t len = 0; len <= all; len++) {
        put(text, len);
        struct journal *journal = open_good();
        const size_t whole = len < first ? begin : len < all ? first : all;
        check_file(path, text, whole);
        assert_int_equal(records.num, (whole >= first) + (whole >= all));
        append(journal, 2);
        journal_close(journal);
        journal_close(open_good());
        assert_int_equal(records.num, 1 + (whole >= first) + (whole >= all));
    }
    free(text);
}

static void one_writer_at_a_time(void **state)
{
    (void) state;
    const struct journal_head head = make_head();
    struct journal *journal = open_good();
    append(journal, 1);
    assert_null(open_as(&head, false));
    assert_non_null(strstr(error, "another tuner writes this journal"));
    append(journal, 2);
    journal_close(journal);
    journal_close(open_good());
    assert_int_equal(records.num, 2);
}

static void *open_when_it_ends(void *unused)
{
    const struct journal_head head = make_head();
    (void) unused;
    return open_as(&head, true);
}

/* A build does not fail because a tuner outlived the ninja that began it. */
static void a_build_waits_for_the_other_writer(void **state)
{
    pthread_t waiter;
    void *found;
    (void) state;
    struct journal *journal = open_good();
    append(journal, 1);
    assert_int_equal(pthread_create(&waiter, NULL, open_when_it_ends, NULL), 0);
    nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    append(journal, 2);
    journal_close(journal);
    assert_int_equal(pthread_join(waiter, &found), 0);
    assert_non_null(found);
    assert_int_equal(records.num, 2);
    journal_close(found);
}

/* Where the power fails some file systems leave NULs. Elsewhere than at the end they are damage. */
static void nuls_at_the_end_are_cut_off(void **state)
{
    (void) state;
    char *text = make_journal(2);
    const size_t all = strlen(text), torn = all - 5;
    char *damaged = calloc(1, all + 4096);
    assert_non_null(damaged);
    memcpy(damaged, text, all);
    put(damaged, all + 4096);
    journal_close(open_good());
    assert_int_equal(records.num, 2);
    check_file(path, text, all);
    memset(damaged + torn, 0, all - torn);
    put(damaged, all + 4096);
    journal_close(open_good());
    assert_int_equal(records.num, 1);
    const struct journal_head head = make_head();
    damaged[all + 100] = 'x';
    put(damaged, all + 4096);
    assert_null(open_as(&head, false));
    assert_non_null(strstr(error, "it holds a NUL byte"));
    struct journal *journal = open_as(&head, true);
    assert_non_null(journal);
    assert_int_equal(records.num, 0);
    journal_close(journal);
    free(damaged);
    free(text);
}

static void check_refused(const struct journal_head *head, const char *text, const char *what)
{
    assert_null(open_as(head, false));
    if (!strstr(error, what) || !strstr(error, path))
        fail_msg("'%s', not '%s'", error, what);
    assert_int_equal(records.num, 0);
    check_file(path, text, strlen(text));
}

static void journals_of_others_are_refused(void **state)
{
    (void) state;
    char *text = make_journal(2);
    struct journal_head head = make_head();
    strcpy(head.facts.device, "another");
    check_refused(&head, text, "made on another device or driver");
    head = make_head();
    strcpy(head.facts.driver, "another");
    check_refused(&head, text, "made on another device or driver");
    head = make_head();
    head.generator++;
    check_refused(&head, text, "made by another version of the kernels");
    free(text);
}

static void or_set_aside_when_asked(void **state)
{
    (void) state;
    char *text = make_journal(2);
    struct journal_head head = make_head();
    head.generator++;
    struct journal *journal = open_as(&head, true);
    assert_non_null(journal);
    assert_int_equal(records.num, 0);
    check_file(old_path, text, strlen(text));
    append(journal, 9);
    journal_close(journal);
    journal = open_as(&head, true); /* its own is not set aside */
    assert_non_null(journal);
    assert_int_equal(records.num, 1);
    check_file(old_path, text, strlen(text));
    journal_close(journal);
    free(text);
}

/* One with a damaged row is kept in the same way; without the option the way on is said. */
static void a_damaged_one_too(void **state)
{
    (void) state;
    const struct journal_head head = make_head();
    char *text = make_journal(2);
    strstr(text, "\nbegin\n")[7 + 3] ^= 1;
    put(text, strlen(text));
    check_refused(&head, text, "delete this line to go on");
    assert_non_null(strstr(error, path));
    struct journal *journal = open_as(&head, true);
    assert_non_null(journal);
    assert_int_equal(records.num, 0);
    assert_int_equal(records.head.generator, head.generator);
    check_file(old_path, text, strlen(text));
    append(journal, 9);
    journal_close(journal);
    free(text);
}

/* Whatever else the file is, it is left alone. */
static void other_files_are_refused(void **state)
{
    (void) state;
    const struct journal_head head = make_head();
    char *text = make_journal(2);
    char *row = strstr(text, "\nbegin\n") + 7;
    put("a letter", 8);
    check_refused(&head, "a letter", "neither a journal nor empty");
    put("a letter\n", 9);
    check_refused(&head, "a letter\n", "line 1: not a kiln-journal");
    row[3] ^= 1;
    put(text, strlen(text));
    check_refused(&head, text, "wrong checksum");
    free(text);
}

static void places_without_a_journal(void **state)
{
    (void) state;
    const struct journal_head head = make_head();
    char long_path[4000];
    assert_null(journal_open("/nowhere/journal.tsv", &head, false, &records, error));
    assert_string_equal(error, "/nowhere/journal.tsv: No such file or directory");
    memset(long_path, 'x', sizeof long_path);
    long_path[sizeof long_path - 1] = '\0';
    assert_null(journal_open(long_path, &head, false, &records, error));
    assert_string_equal(error, "the journal's path is too long");
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A row that does not fit leaves no part of itself, wherever the disk ends. */
static void a_full_disk_leaves_whole_rows(void **state)
{
    (void) state;
    char *text = make_journal(2);
    const size_t all = strlen(text);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t room = 0; room < 40; room += 13) {
        struct journal *journal = open_good();
        const struct record row = make_row(3);
        limit_files(all + room);
        const bool appended = journal_append(journal, &row, 1, error);
        limit_files(0);
        assert_false(appended);
        assert_non_null(strstr(error, path));
        check_file(path, text, all);
        journal_close(journal);
    }
    struct journal *journal = open_good();
    append(journal, 3); /* there is room again */
    journal_close(journal);
    journal_close(open_good());
    assert_int_equal(records.num, 3);
    signal(SIGXFSZ, SIG_DFL);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(rows_come_back, clean),
        cmocka_unit_test_teardown(what_a_kill_tore_is_cut_off, clean),
        cmocka_unit_test_teardown(one_writer_at_a_time, clean),
        cmocka_unit_test_teardown(a_build_waits_for_the_other_writer, clean),
        cmocka_unit_test_teardown(nuls_at_the_end_are_cut_off, clean),
        cmocka_unit_test_teardown(journals_of_others_are_refused, clean),
        cmocka_unit_test_teardown(or_set_aside_when_asked, clean),
        cmocka_unit_test_teardown(a_damaged_one_too, clean),
        cmocka_unit_test_teardown(other_files_are_refused, clean),
        cmocka_unit_test_teardown(places_without_a_journal, clean),
        cmocka_unit_test_teardown(a_full_disk_leaves_whole_rows, clean),
    };
    return cmocka_run_group_tests_name("journal", tests, make_folder, remove_folder);
}
