/* timing.c: see timing.h. */
#include "timing.h"
#include "clock.h"
#include "element.h"
#include "../core/random.h"
#include "../core/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REPEAT = 2048, RANDOM_BYTES = 1 << 20 };

enum { FEW = 4 }; /* candidates that are timed together */

/* How often what seems slow is timed again, and how many samples' time each may take. */
enum { CONFIRMATIONS = 2 };
static const double long_samples = 10;

/* Seconds of a candidate's samples. A CPU is shared and timed by the wall's clock; what is not, by
 * its own, repeats within a percent. */
static const double enough_of_few = 0.25, enough_of_many = 0.03, enough_elsewhere = 0.005;
static const double slow_factor = 1.5; /* times the incumbent */
static const double far_factor = 3;    /* times the fastest of the same request */
static const double long_seconds = 10e-3;
static const double least_mhz = 1000;   /* no clock is taken to be slower */
static const double false_clock = 1e-3; /* of the wall's time: less shows a false clock */

double timing_least(const struct device_facts *facts, const struct precision *precision,
        struct shape shape)
{
    const long *value = facts->value;
    const double lanes = (double) value[FACT_VECTOR_BYTES] / precision->real_bytes;
    /* CPUs: two fused multiply-adds on vectors a cycle, with a margin of 4 for clocks that rise
     * above the one reported. GPUs: matrix units do up to 1024 a cycle; margin 4 again. */
    const double per_cycle = value[FACT_IS_CPU] ? 4 * fmax(lanes, 1) * 4 : 1024 * 4;
    /* Simulators and software devices report any clock, one of 1 MHz for instance. */
    const double mhz = (double) value[FACT_CLOCK_MHZ];
    const double clock = mhz > 0 ? fmax(mhz, least_mhz) : 0;
    const double cycles = (double) value[FACT_UNITS] * clock * 1e6;
    const double peak = cycles * per_cycle;
    return peak > 0 ? precision_operations(precision, shape) / peak : 0;
}

void timing_choose_samples(const struct device_facts *facts, unsigned num,
        struct timing_limits *limits)
{
    limits->is_broad = num > FEW;
    const bool is_cpu = facts->value[FACT_IS_CPU];
    limits->sample = limits->is_broad ? 2e-3 : 10e-3;
    limits->enough = !limits->is_broad ? enough_of_few : is_cpu ? enough_of_many : enough_elsewhere;
    limits->sustained = !is_cpu;
}

void timing_summarise(double *samples, unsigned num, bool sustained, double *seconds,
        double *spread)
{
    qsort(samples, num, sizeof *samples, compare_doubles);
    *seconds = samples[sustained ? (num - 1) / 2 : 0];
    *spread = samples[0] > 0 ? (samples[3 * num / 4] - samples[num / 4]) / samples[0] : 0;
}

static void fail(struct timing_entry *entry, enum trial_outcome outcome, const char *message)
{
    entry->done = true;
    entry->result->outcome = outcome;
    snprintf(entry->result->message, TRIAL_MESSAGE_BYTES, "%s", message);
}

/* ---- One sample ---- */

/* The first event of the first operation and the last of the last one. */
struct span {
    cl_event first, last;
};

static void span_release(struct span *span)
{
    if (span->first)
        clReleaseEvent(span->first);
    if (span->last)
        clReleaseEvent(span->last);
}

/* Enqueues one operation. Only the first and the last of a span have events: an H200's driver takes
 * 10.5 us for a small kernel with one, 3.6 us without. */
static enum kiln_status enqueue_one(struct launcher *launcher, const struct timing_entry *entry,
        bool is_first, bool is_last, struct span *span)
{
    cl_event stages[KILN_MAX_STAGES];
    unsigned num = 0;
    if (!is_first && !is_last)
        return kiln_gemm_enqueue(entry->context, &entry->gemm, launcher->queue, 0, NULL, NULL);
    const enum kiln_status status = kiln_gemm_enqueue_profiled(entry->context, &entry->gemm,
            launcher->queue, stages, &num);
    for (unsigned i = 0; i < num; i++) {
        if (is_first && i == 0 && clRetainEvent(stages[i]) == CL_SUCCESS)
            span->first = stages[i];
        if (is_last && i + 1 == num)
            span->last = stages[i];
        else
            clReleaseEvent(stages[i]);
    }
    return status;
}

static enum kiln_status span_seconds(const struct span *span, double *seconds)
{
    cl_ulong start = 0, end = 0;
    if (!span->first || !span->last)
        return KILN_INVALID_ARGUMENT; /* nothing was enqueued */
    cl_int error = clGetEventProfilingInfo(span->first, CL_PROFILING_COMMAND_START, sizeof start,
            &start, NULL);
    if (error == CL_SUCCESS)
        error = clGetEventProfilingInfo(span->last, CL_PROFILING_COMMAND_END, sizeof end, &end,
                NULL);
    *seconds = ((double) end - (double) start) * 1e-9;
    return (enum kiln_status) error;
}

/* Seconds of one operation out of `repeat` back to back, by the device's clock and the wall's. */
static bool sample_both(struct launcher *launcher, struct timing_entry *entry, unsigned repeat,
        double *seconds, double *wall)
{
    struct span span = { NULL, NULL };
    enum kiln_status status = KILN_SUCCESS;
    const double before = clock_now();
    for (unsigned i = 0; i < repeat && status == KILN_SUCCESS; i++)
        status = enqueue_one(launcher, entry, i == 0, i + 1 == repeat, &span);
    const cl_int finished = clFinish(launcher->queue);
    *wall = (clock_now() - before) / repeat;
    if (status == KILN_SUCCESS)
        status = (enum kiln_status) finished;
    if (status == KILN_SUCCESS && !launcher->by_wall)
        status = span_seconds(&span, seconds);
    span_release(&span);
    *seconds = launcher->by_wall ? *wall : *seconds / repeat;
    if (status != KILN_SUCCESS)
        fail(entry, TRIAL_LAUNCH, kiln_status_string(status));
    return status == KILN_SUCCESS;
}

static bool sample(struct launcher *launcher, struct timing_entry *entry, unsigned repeat,
        double *seconds)
{
    double wall;
    return sample_both(launcher, entry, repeat, seconds, &wall);
}

/* A driver's events may hold no times at all. One reading may be false by chance; not three. */
static bool has_false_clock(struct launcher *launcher, struct timing_entry *entry)
{
    for (int i = 0; i < 3; i++) {
        double seconds = 0, wall = 0;
        if (!sample_both(launcher, entry, 1, &seconds, &wall) || seconds > false_clock * wall)
            return false;
    }
    return true;
}

/* ---- Operands ---- */

void timing_fill(const struct precision *precision, size_t bytes, unsigned char *block)
{
    const size_t size = (size_t) precision->element_bytes / precision->parts;
    uint64_t state = 0;
    for (size_t at = 0; at + size <= bytes; at += size) {
        const uint64_t bits = random_next(&state);
        const double fraction = (double) (bits >> 11) * 0x1p-53;
        kiln_real_put(precision->storage, block + at, (bits & 1 ? -0.5 : 0.5) * (1 + fraction));
    }
}

/* A buffer of at least so many bytes, filled with the block again and again; block may be NULL. */
static cl_int buffer_reserve(struct launcher *launcher, struct timing_buffer *buffer, size_t bytes,
        const unsigned char *block)
{
    cl_int error = CL_SUCCESS;
    size_t wanted = RANDOM_BYTES;
    while (wanted < bytes && wanted <= SIZE_MAX / 2)
        wanted *= 2;
    if (buffer->bytes < bytes) {
        if (buffer->memory)
            clReleaseMemObject(buffer->memory);
        *buffer = (struct timing_buffer){ .memory = NULL };
        buffer->memory = clCreateBuffer(launcher->context, CL_MEM_READ_WRITE, wanted, NULL, &error);
        if (!buffer->memory) /* a device that is nearly full */
            buffer->memory = clCreateBuffer(launcher->context, CL_MEM_READ_WRITE, wanted = bytes,
                    NULL, &error);
        if (!buffer->memory)
            return error;
        buffer->bytes = wanted;
        buffer->is_filled = false;
    }
    for (size_t at = 0; block && !buffer->is_filled && at < buffer->bytes; at += RANDOM_BYTES) {
        const size_t rest = buffer->bytes - at;
        error = clEnqueueWriteBuffer(launcher->queue, buffer->memory, CL_TRUE, at,
                rest < RANDOM_BYTES ? rest : RANDOM_BYTES, block, 0, NULL, NULL);
        if (error != CL_SUCCESS)
            return error;
    }
    buffer->is_filled = true;
    return CL_SUCCESS;
}

static bool is_reserved(const struct timing_data *data, const size_t bytes[3])
{
    for (int i = 0; i < 3; i++)
        if (data->buffers[i].bytes < bytes[i] || !data->buffers[i].is_filled)
            return false;
    return true;
}

enum kiln_status timing_data_reserve(struct timing_data *data, struct launcher *launcher,
        const struct precision *precision, const size_t elements[3])
{
    size_t bytes[3];
    cl_int error = CL_SUCCESS;
    for (int i = 0; i < 3; i++) {
        if (__builtin_mul_overflow(elements[i], (size_t) precision->element_bytes, &bytes[i]))
            return KILN_SIZE_OVERFLOW;
        if (data->precision != precision)
            data->buffers[i].is_filled = false;
    }
    if (is_reserved(data, bytes))
        return KILN_SUCCESS;
    unsigned char *block = malloc(RANDOM_BYTES);
    if (!block)
        return KILN_OUT_OF_MEMORY;
    data->precision = precision;
    timing_fill(precision, RANDOM_BYTES, block);
    for (int i = 0; i < 3 && error == CL_SUCCESS; i++)
        error = buffer_reserve(launcher, &data->buffers[i], bytes[i], i < 2 ? block : NULL);
    free(block);
    return (enum kiln_status) error;
}

void timing_data_free(struct timing_data *data)
{
    for (int i = 0; i < 3; i++)
        if (data->buffers[i].memory)
            clReleaseMemObject(data->buffers[i].memory);
    *data = (struct timing_data){ .precision = NULL };
}

/* ---- Candidates ---- */

static bool plausible(struct timing_entry *entry, double seconds,
        const struct timing_limits *limits)
{
    char message[96];
    if (seconds > 0 && seconds >= limits->least)
        return true;
    snprintf(message, sizeof message, "%.3g s is less than the device's peak allows, %.3g s",
            seconds, limits->least);
    fail(entry, TRIAL_TIMING, message);
    return false;
}

static unsigned repeat_for(double seconds, double sample)
{
    const double repeat = seconds > 0 ? ceil(sample / seconds) : MAX_REPEAT;
    return repeat < 1 ? 1 : repeat > MAX_REPEAT ? MAX_REPEAT : (unsigned) repeat;
}

static void stop_slow(struct timing_entry *entry)
{
    fail(entry, TRIAL_SLOW, "");
    entry->result->seconds = entry->first;
}

/* Takes more samples of what seems slower than `most` seconds, where `most` is less than a sample.
 * A sample of short operations may take many times as long as the next, because the driver still
 * loads the kernel or the host is delayed. The least counts. */
static void confirm_slow(struct launcher *launcher, struct timing_entry *entry,
        const struct timing_limits *limits, double most)
{
    for (int i = 0; i < CONFIRMATIONS && !entry->done && entry->first > most &&
                    most * entry->repeat < limits->sample &&
                    entry->first * entry->repeat < long_samples * limits->sample;
            i++) {
        double seconds = 0;
        if (!sample(launcher, entry, entry->repeat, &seconds) || !plausible(entry, seconds, limits))
            return;
        entry->first = fmin(entry->first, seconds);
        const unsigned repeat = repeat_for(entry->first, limits->sample);
        entry->repeat = repeat > entry->repeat ? repeat : entry->repeat;
    }
}

/* Decides how many operations make a sample. What is measured here only warms up, and drops what is
 * much slower than the incumbent; short operations are judged by a whole sample. */
static void warm_up(struct launcher *launcher, struct timing_entry *entry,
        const struct timing_limits *limits)
{
    double seconds = 0;
    entry->repeat = 1;
    if (!sample(launcher, entry, 1, &seconds))
        return;
    if (!(seconds >= limits->least) && !launcher->by_wall && has_false_clock(launcher, entry)) {
        launcher->by_wall = true;
        if (!sample(launcher, entry, 1, &seconds))
            return;
    }
    /* A first launch is often several times slower, and a sample then too short: twice. */
    for (int i = 0; i < 2 && seconds < limits->sample; i++) {
        const unsigned repeat = repeat_for(seconds, limits->sample);
        if (repeat <= entry->repeat)
            break;
        entry->repeat = repeat;
        if (!sample(launcher, entry, repeat, &seconds))
            return;
    }
    entry->first = seconds;
    if (!plausible(entry, seconds, limits) || !(limits->incumbent > 0))
        return;
    confirm_slow(launcher, entry, limits, slow_factor * limits->incumbent);
    if (!entry->done && entry->first > slow_factor * limits->incumbent)
        stop_slow(entry);
}

/* Of those that are timed together, the ones far behind the fastest need no further samples where
 * these would take long. */
static void drop_far_behind(struct launcher *launcher, struct timing_entry *entries, unsigned num,
        const struct timing_limits *limits, void (*begin)(void *user, unsigned entry), void *user)
{
    double fastest = INFINITY;
    for (unsigned i = 0; i < num; i++)
        if (!entries[i].done)
            fastest = fmin(fastest, entries[i].first);
    for (unsigned i = 0; i < num; i++) {
        if (entries[i].done || !(entries[i].first > far_factor * fastest) ||
                (!limits->is_broad && entries[i].first <= long_seconds))
            continue;
        begin(user, i);
        confirm_slow(launcher, &entries[i], limits, far_factor * fastest);
        if (!entries[i].done && entries[i].first > far_factor * fastest)
            stop_slow(&entries[i]);
    }
}

/* The wall's clock repeats less well. */
static double enough_for(const struct launcher *launcher, const struct timing_limits *limits)
{
    return launcher->by_wall ? fmax(limits->enough, enough_of_many) : limits->enough;
}

static void add_sample(struct launcher *launcher, struct timing_entry *entry,
        const struct timing_limits *limits)
{
    double seconds = 0;
    if (!sample(launcher, entry, entry->repeat, &seconds) || !plausible(entry, seconds, limits))
        return;
    entry->samples[entry->num_samples++] = seconds;
    entry->total += seconds * entry->repeat;
    if (entry->num_samples < TIMING_MIN_SAMPLES)
        return;
    if (entry->num_samples < TIMING_MAX_SAMPLES && entry->total < enough_for(launcher, limits))
        return;
    entry->done = true;
    entry->result->outcome = TRIAL_OK;
    timing_summarise(entry->samples, entry->num_samples, limits->sustained, &entry->result->seconds,
            &entry->result->spread);
}

void timing_run(struct launcher *launcher, struct timing_entry *entries, unsigned num,
        const struct timing_limits *limits, void (*begin)(void *user, unsigned entry), void *user)
{
    for (unsigned i = 0; i < num; i++) {
        entries[i].repeat = entries[i].num_samples = 0;
        entries[i].total = 0;
        entries[i].done = false;
        begin(user, i);
        warm_up(launcher, &entries[i], limits);
    }
    drop_far_behind(launcher, entries, num, limits, begin, user);
    for (unsigned round = 0; round < TIMING_MAX_SAMPLES; round++)
        for (unsigned i = 0; i < num; i++) {
            if (entries[i].done)
                continue;
            begin(user, i);
            add_sample(launcher, &entries[i], limits);
        }
}
