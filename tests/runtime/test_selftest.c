/* test_selftest.c: the self-test of a context, on a fake device that multiplies rightly or wrongly.
 *
 * The emulator runs the plain kernels of the test bundles on the host. */
#include "element.h"
#include "fixture.h"

#include <string.h>

struct machine {
    const char *broken;                /* a kernel that computes something else; NULL: none */
    unsigned long launches;
};

struct matrix {
    unsigned char *data;
    size_t offset, ld;                 /* elements */
    enum kiln_storage storage;
};

static double load(const struct matrix *matrix, size_t index)
{
    return kiln_real_get(matrix->storage,
            matrix->data + (matrix->offset + index) * kiln_storage_bytes(matrix->storage));
}

static void store(const struct matrix *matrix, size_t index, double value)
{
    kiln_real_put(matrix->storage,
            matrix->data + (matrix->offset + index) * kiln_storage_bytes(matrix->storage), value);
}

static size_t extent(const struct stub_record *record, unsigned arg)
{
    return (size_t) stub_record_int(record, arg);
}

static struct matrix matrix_of(const struct stub_record *record, unsigned arg,
        enum kiln_storage storage)
{
    return (struct matrix){ stub_buffer_data(stub_record_mem(record, arg)), extent(record, arg + 1),
        extent(record, arg + 2), storage };
}

/* The transposes are in the name: generic_s_nt, tn_mul; the others are NN. */
static void read_transposes(const char *entry, bool *transa, bool *transb)
{
    const char *pair = strncmp(entry, "generic_", 8) == 0 ? entry + 10 : entry;
    *transa = pair[0] == 't';
    *transb = pair[1] == 't';
}

static void multiply(const struct stub_record *r, double error)
{
    bool transa, transb;
    enum kiln_storage storage = r->args[PLAIN_ALPHA].size == 8  ? KILN_STORED_DOUBLE
                              : strstr(r->entry, "_h_") != NULL ? KILN_STORED_HALF
                                                                : KILN_STORED_FLOAT;
    struct matrix a = matrix_of(r, PLAIN_A, storage);
    struct matrix b = matrix_of(r, PLAIN_B, storage);
    struct matrix c = matrix_of(r, PLAIN_C, storage);
    read_transposes(r->entry, &transa, &transb);
    for (size_t i = 0; i < extent(r, PLAIN_M); i++) {
        for (size_t j = 0; j < extent(r, PLAIN_N); j++) {
            double sum = error;
            for (size_t p = 0; p < extent(r, PLAIN_K); p++) {
                sum += load(&a, transa ? p * a.ld + i : i * a.ld + p) *
                       load(&b, transb ? j * b.ld + p : p * b.ld + j);
            }
            store(&c, i * c.ld + j,
                    stub_record_real(r, PLAIN_ALPHA) * sum +
                            stub_record_real(r, PLAIN_BETA) * load(&c, i * c.ld + j));
        }
    }
}

static void emulate(void *user, const struct stub_record *record)
{
    struct machine *machine = user;
    bool broken = machine->broken != NULL && strcmp(record->entry, machine->broken) == 0;
    machine->launches++;
    multiply(record, broken ? 1.0 : 0.0);
}

static enum kiln_status create_tested(struct fixture *f, struct machine *machine)
{
    struct kiln_context_params params = { .self_test = 1 };
    struct kiln_context *kiln = NULL;
    stub_emulate(emulate, machine);
    enum kiln_status status = kiln_context_create(f->cl, f->device, &params, &kiln);
    assert_true((status == KILN_SUCCESS) == (kiln != NULL));
    assert_int_equal(stub_live(STUB_QUEUE), 2); /* the test's own is gone */
    kiln_context_destroy(&kiln);
    return status;
}

static void a_sound_device_passes(void **state)
{
    struct machine machine = { NULL, 0 };
    assert_int_equal(create_tested(*state, &machine), KILN_SUCCESS);
    assert_true(machine.launches >= 12); /* three precisions, four pairs of transposes */
    assert_int_equal(stub_live(STUB_QUEUE), 2);
}

static void a_wrong_kernel_is_found(void **state)
{
    static const char *const kernels[] = { "small_mul", "tn_mul", "double_mul", "generic_s_tt",
        "generic_d_nt", "generic_h_nn", "generic_h_tt" };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct machine machine = { kernels[i], 0 };
        assert_int_equal(create_tested(*state, &machine), KILN_SELF_TEST_FAILED);
        assert_int_equal(stub_live(STUB_QUEUE), 2);
    }
}

static void a_failing_driver_is_reported(void **state)
{
    static const char *const functions[] = { "clCreateCommandQueue", "clCreateBuffer",
        "clEnqueueNDRangeKernel", "clEnqueueReadBuffer" };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        struct machine machine = { NULL, 0 };
        stub_fail(functions[i], 1, CL_INVALID_OPERATION);
        assert_int_equal(create_tested(*state, &machine), CL_INVALID_OPERATION);
        stub_clear_plans();
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_sound_device_passes),
        TEST(a_wrong_kernel_is_found),
        TEST(a_failing_driver_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
