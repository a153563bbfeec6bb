/* test_cubin.c: cubins are made of PTX, by a stand-in for the driver or one for ptxas.
 * usage: test_cubin FAKE_CUDA FAKE_PTXAS */
#include "tune/cubin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_BYTES = 64, MAKER = 56 };

static const char *fake_cuda, *fake_ptxas;
static const char ptx[] = ".version 8.0\n.target sm_90a, texmode_independent\n.entry k() {}\n";

/* By whom a cubin of the text was made: a device's number, 'p' for ptxas, -1 for nobody. */
static int made_by(struct cubin_maker *maker, const char *text, char error[CUBIN_ERROR_BYTES])
{
    size_t size = 1;
    error[0] = '\0';
    unsigned char *cubin = cubin_make(maker, text, &size, error);
    if (!cubin) {
        assert_int_equal(size, 0);
        assert_true(error[0]);
        return -1;
    }
    const int maker_there = cubin[MAKER];
    const size_t length = strlen(text);
    assert_true(size >= HEADER_BYTES + length);
    assert_memory_equal(cubin + size - length, text, length);
    free(cubin);
    return maker_there;
}

static struct cubin_maker *open_maker(const char *libcuda, const char *ptxas, unsigned capability,
        const char *unit)
{
    char error[CUBIN_ERROR_BYTES];
    const struct cubin_tools tools = { libcuda, ptxas };
    return cubin_open(&tools, capability, unit, error);
}

static void the_driver_of_the_device_links(void **state)
{
    static const struct {
        const char *unit;
        int device;
    } cases[] = { { "", 1 }, { "2:0", 1 }, { "1a:0", 2 }, { "0:1a:0.0", 2 }, { "0:7:0.0", 1 },
        { "1:0", 1 } };
    char error[CUBIN_ERROR_BYTES];
    (void) state;
    void *library = dlopen(fake_cuda, RTLD_NOW);
    assert_non_null(library);
    int (*live)(void);
    *(void **) &live = dlsym(library, "fake_cuda_live");
    assert_non_null(live);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cubin_maker *maker = open_maker(fake_cuda, "/nowhere", 90, cases[i].unit);
        assert_non_null(maker);
        assert_int_equal(live(), 1);
        assert_int_equal(made_by(maker, ptx, error), cases[i].device);
        assert_int_equal(made_by(maker, ".target sm_90a refuse", error), -1);
        assert_non_null(strstr(error, "cuLinkAddData"));
        assert_non_null(strstr(error, "refused as planned"));
        assert_null(strstr(error, "more"));
        assert_int_equal(made_by(maker, ".target sm_90a garbage", error), -1);
        assert_non_null(strstr(error, "no cubin"));
        assert_int_equal(live(), 1);
        cubin_close(maker);
        assert_int_equal(live(), 0);
    }
    dlclose(library);
}

static void without_a_driver_ptxas_assembles(void **state)
{
    static const struct {
        const char *library;
        unsigned capability;
    } cases[] = { { "/nowhere/libcuda.so.1", 90 }, { NULL, 70 }, { "libm.so.6", 90 } };
    char error[CUBIN_ERROR_BYTES];
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *library = cases[i].library ? cases[i].library : fake_cuda;
        struct cubin_maker *maker = open_maker(library, fake_ptxas, cases[i].capability, "");
        assert_non_null(maker);
        assert_int_equal(made_by(maker, ptx, error), 'p');
        assert_int_equal(made_by(maker, ".target sm_90a\nrefuse", error), -1);
        assert_non_null(strstr(error, "refused as planned"));
        assert_int_equal(made_by(maker, ".target sm_90a\ngarbage", error), -1);
        assert_non_null(strstr(error, "no cubin"));
        assert_int_equal(made_by(maker, "no target", error), -1);
        assert_non_null(strstr(error, "names no target"));
        cubin_close(maker);
        assert_null(open_maker(library, "/nowhere", cases[i].capability, ""));
    }
}

/* The header is followed by the option that ptxas was given. */
static void ptxas_is_told_the_target(void **state)
{
    static const char *const targets[][2] = {
        { ".target sm_90a, texmode_independent\n", "-arch=sm_90a\n" },
        { ".target sm_80\n", "-arch=sm_80\n" },
        { ".version 8\n.target sm_100f, debug\n", "-arch=sm_100f\n" },
    };
    char error[CUBIN_ERROR_BYTES];
    size_t size;
    (void) state;
    struct cubin_maker *maker = open_maker("/nowhere", fake_ptxas, 90, "");
    assert_non_null(maker);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        unsigned char *cubin = cubin_make(maker, targets[i][0], &size, error);
        assert_non_null(cubin);
        assert_memory_equal(cubin + HEADER_BYTES, targets[i][1], strlen(targets[i][1]));
        free(cubin);
    }
    cubin_close(maker);
}

/* In a folder of PATH, and then in CUDA_PATH/bin. */
static void ptxas_is_found(void **state)
{
    char folder[] = "/tmp/test_cubin-XXXXXX", bin[64], link[96], path[4096], error[256];
    const char *old = getenv("PATH");
    (void) state;
    char *kept = strdup(old ? old : "/bin");
    assert_non_null(kept);
    assert_non_null(mkdtemp(folder));
    snprintf(bin, sizeof bin, "%s/bin", folder);
    snprintf(link, sizeof link, "%s/ptxas", bin);
    assert_int_equal(mkdir(bin, 0777), 0);
    assert_int_equal(symlink(fake_ptxas, link), 0);
    snprintf(path, sizeof path, "%s:%s", bin, kept);
    for (int by_path = 0; by_path < 2; by_path++) {
        setenv("PATH", by_path ? path : "/usr/bin:/bin", 1);
        if (by_path)
            unsetenv("CUDA_PATH");
        else
            setenv("CUDA_PATH", folder, 1);
        struct cubin_maker *maker = open_maker("/nowhere", NULL, 90, "");
        assert_non_null(maker);
        assert_int_equal(made_by(maker, ptx, error), 'p');
        cubin_close(maker);
    }
    setenv("PATH", kept, 1);
    free(kept);
    unlink(link);
    rmdir(bin);
    rmdir(folder);
}

static void with_neither_the_cause_is_told(void **state)
{
    const struct cubin_tools tools = { "/nowhere/libcuda.so.1", "/nowhere/ptxas" };
    char error[CUBIN_ERROR_BYTES] = "";
    (void) state;
    assert_null(cubin_open(&tools, 90, "", error));
    assert_non_null(strstr(error, "/nowhere/libcuda.so.1: it can not be loaded"));
    assert_non_null(strstr(error, "there is no ptxas"));
}

static void ptx_is_told_from_other_binaries(void **state)
{
    static const char elf[] = "\177ELF\0\0.target sm_90", other[] = "text of something";
    char *text;
    (void) state;
    assert_null(cubin_ptx_of(elf, sizeof elf));
    assert_null(cubin_ptx_of(other, sizeof other));
    assert_null(cubin_ptx_of("", 0));
    for (size_t nuls = 0; nuls < 2; nuls++) {
        text = cubin_ptx_of(ptx, sizeof ptx - 1 + nuls);
        assert_non_null(text);
        assert_string_equal(text, ptx);
        free(text);
    }
    assert_false(cubin_needs_its_driver(ptx));
    assert_true(cubin_needs_its_driver("mov.u32 %r1, %envreg3;"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_driver_of_the_device_links),
        cmocka_unit_test(without_a_driver_ptxas_assembles),
        cmocka_unit_test(ptxas_is_told_the_target),
        cmocka_unit_test(ptxas_is_found),
        cmocka_unit_test(with_neither_the_cause_is_told),
        cmocka_unit_test(ptx_is_told_from_other_binaries),
    };
    if (argc != 3)
        return 2;
    fake_cuda = argv[1];
    fake_ptxas = argv[2];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
