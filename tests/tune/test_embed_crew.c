/* test_embed_crew.c: binaries made by processes side by side, generator/tune/embed_crew.c, on the
 * fake OpenCL driver with stand-ins for what makes cubins. The processes are this program again;
 * the folder that they are told says how they behave.
 * usage: test_embed_crew FAKE_CUDA FAKE_PTXAS */
#include "embed_world.h"
#include "leap.h"
#include "core/emit.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char self[] = "/proc/self/exe";
static const char cuda_name[] = "KILN_TEST_CUDA", ptxas_name[] = "KILN_TEST_PTXAS";

static struct cubin_tools driver, ptxas;

/* ---- A process of the crew ---- */

static void answer_lies(void)
{
    struct embed_request request;
    while (embed_crew_hear(&request)) {
        printf("made %x 4 0 1234\nlies", request.program);
        fflush(stdout);
    }
}

static void answer_nothing(void)
{
    struct embed_request request;
    while (embed_crew_hear(&request))
        embed_crew_answer(stdout, request.program, &(struct embed_made){ .data = NULL });
}

static void answer_without_end(void)
{
    struct embed_request request;
    while (embed_crew_hear(&request))
        for (;;)
            printf("made");
}

/* As it should, but for what the stand-ins do. */
static int serve(const char *behaviour)
{
    struct world w;
    struct cubin_tools tools = { getenv(cuda_name), "/nowhere" };
    char parent[16];
    snprintf(parent, sizeof parent, "%d", (int) getppid());
    open_world(&w, WORLD_PROGRAMS);
    if (!strcmp(behaviour, "swapped")) {
        const struct kiln_program last = w.assembly.programs[WORLD_PROGRAMS - 1];
        w.assembly.programs[WORLD_PROGRAMS - 1] = w.assembly.programs[WORLD_PROGRAMS - 2];
        w.assembly.programs[WORLD_PROGRAMS - 2] = last;
    }
    if (!strcmp(behaviour, "crash") || !strcmp(behaviour, "hang"))
        setenv("FAKE_CUDA_TRIP", behaviour, 1);
    if (!strcmp(behaviour, "ptxas hang"))
        setenv("FAKE_PTXAS_TRIP", parent, 1);
    if (!strncmp(behaviour, "ptxas", 5))
        tools = (struct cubin_tools){ "/nowhere", getenv(ptxas_name) };
    const bool ok = embed_serve(&w.assembly, "", &tools, w.error);
    close_world(&w);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int behave(const char *behaviour)
{
    if (!strcmp(behaviour, "exit"))
        return EXIT_FAILURE;
    if (!strcmp(behaviour, "lie"))
        answer_lies();
    else if (!strcmp(behaviour, "nothing"))
        answer_nothing();
    else if (!strcmp(behaviour, "flood"))
        answer_without_end();
    else
        return serve(behaviour);
    return EXIT_SUCCESS;
}

/* ---- What comes of it ---- */

/* The bundle that a crew of this behaviour leaves, as C, and how many programs were built here. */
static unsigned long embed(const char *behaviour, unsigned size, bool keep_source,
        const struct cubin_tools *tools, struct text *text)
{
    struct world w;
    const struct embed_crew crew = { behaviour ? self : "/nowhere", behaviour, size };
    open_world(&w, WORLD_PROGRAMS);
    if (!embed_binaries(&w.assembly, "", keep_source, tools, &crew, w.error))
        fail_msg("%s", w.error);
    const unsigned long built = stub_calls("clCreateProgramWithSource");
    emit_bundle(&w.assembly.bundle, NULL, text);
    assert_false(text->failed);
    close_world(&w);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no process is left */
    return built;
}

static void expect_same(const char *behaviour, unsigned size, const struct cubin_tools *tools,
        unsigned long least_built, unsigned long most_built)
{
    for (int keep_source = 0; keep_source < 2; keep_source++) {
        struct text alone = { 0 }, together = { 0 };
        assert_int_equal(embed("good", 0, keep_source, tools, &alone), WORLD_PROGRAMS);
        const unsigned long built = embed(behaviour, size, keep_source, tools, &together);
        assert_in_range(built, least_built, most_built);
        assert_int_equal(together.len, alone.len);
        assert_memory_equal(together.bytes, alone.bytes, alone.len);
        text_free(&alone);
        text_free(&together);
    }
}

static void any_number_makes_the_same(void **state)
{
    (void) state;
    const unsigned sizes[] = { 1, 3, 100 };
    for (unsigned i = 0; i < 3; i++) {
        expect_same("good", sizes[i], &driver, 0, 0);
        expect_same("ptxas", sizes[i], &ptxas, 0, 0);
    }
}

/* Of the same PTX the driver makes another cubin than ptxas: what is built there serves, and the
 * cubin is made here. */
static void another_tool_makes_no_cubin(void **state)
{
    (void) state;
    expect_same("ptxas", 3, &driver, 0, 0);
    expect_same("good", 3, &ptxas, 0, 0);
}

/* Only what it was asked for is lost, and as much as nobody else takes. */
static void a_process_that_is_lost_costs_nothing_but_time(void **state)
{
    (void) state;
    expect_same("crash", 1, &driver, 5, 5);
    expect_same("crash", 3, &driver, 1, 1);
    on_signal(leap);
    expect_same("hang", 1, &driver, 5, 5);
    expect_same("hang", 3, &driver, 1, 5);
    assert_int_equal(num_leaps, 4);
}

static void processes_of_no_use_leave_all_to_the_parent(void **state)
{
    static const char *const behaviours[] = { "exit", "lie", "nothing", "flood", NULL };
    (void) state;
    for (unsigned i = 0; i < sizeof behaviours / sizeof *behaviours; i++)
        expect_same(behaviours[i], 3, &driver, WORLD_PROGRAMS, WORLD_PROGRAMS);
}

/* As those of another bundle would be. */
static void programs_of_other_source_are_not_made(void **state)
{
    (void) state;
    expect_same("swapped", 3, &driver, 2, 2);
}

/* ---- The tuner is ended ---- */

static int hung; /* the tuner writes to it when a process hangs */

static void tell_hung(int number)
{
    (void) number;
    (void) !write(hung, "h", 1);
}

/* A tuner whose crew hangs. What it starts holds `alive` open. */
static pid_t start_tuner(const char *behaviour, const struct cubin_tools *tools, int from[2],
        int alive[2])
{
    assert_int_equal(pipe(from), 0);
    assert_int_equal(pipe(alive), 0);
    const pid_t tuner = fork();
    assert_true(tuner >= 0);
    if (!tuner) {
        struct text text = { 0 };
        hung = from[1];
        on_signal(tell_hung);
        embed(behaviour, 3, true, tools, &text);
        _exit(0);
    }
    close(from[1]);
    close(alive[1]);
    return tuner;
}

static void expect_end(const char *behaviour, const struct cubin_tools *tools, int number)
{
    int from[2], alive[2], status;
    char byte;
    const pid_t tuner = start_tuner(behaviour, tools, from, alive);
    assert_int_equal(read(from[0], &byte, 1), 1);
    assert_int_equal(kill(tuner, number), 0);
    assert_int_equal(waitpid(tuner, &status, 0), tuner);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), number);
    assert_int_equal(read(alive[0], &byte, 1), 0);
    close(from[0]);
    close(alive[0]);
}

static void the_end_of_the_tuner_ends_all(void **state)
{
    (void) state;
    const int numbers[] = { SIGINT, SIGTERM, SIGKILL };
    for (unsigned i = 0; i < 3; i++)
        expect_end("hang", &driver, numbers[i]);
}

static void interrupts_leave_no_files(void **state)
{
    (void) state;
    char folder[] = "/tmp/kiln-embed-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("TMPDIR", folder, 1), 0);
    expect_end("ptxas hang", &ptxas, SIGINT);
    expect_end("ptxas hang", &ptxas, SIGTERM);
    assert_int_equal(rmdir(folder), 0);
    unsetenv("TMPDIR");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_makes_the_same),
        cmocka_unit_test(another_tool_makes_no_cubin),
        cmocka_unit_test(a_process_that_is_lost_costs_nothing_but_time),
        cmocka_unit_test(processes_of_no_use_leave_all_to_the_parent),
        cmocka_unit_test(programs_of_other_source_are_not_made),
        cmocka_unit_test(the_end_of_the_tuner_ends_all),
        cmocka_unit_test(interrupts_leave_no_files),
    };
    if (argc == 6 && !strcmp(argv[1], "binaries"))
        return behave(argv[5]);
    if (argc != 3)
        return 2;
    setenv(cuda_name, argv[1], 1);
    setenv(ptxas_name, argv[2], 1);
    driver = (struct cubin_tools){ argv[1], "/nowhere" };
    ptxas = (struct cubin_tools){ "/nowhere", argv[2] };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
