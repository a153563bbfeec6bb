/* stub_record.c: the record of what was enqueued, and what follows from it: the order that a driver
 * must keep between two commands, and the values of kernel arguments. */
#include "stub_internal.h"

#include <stdint.h>
#include <string.h>

static struct stub_record **records;
static size_t num_records, max_records;

void stub_keep_record(struct stub_record *record)
{
    if (num_records == max_records) {
        size_t grown = max_records == 0 ? 256 : 2 * max_records;
        struct stub_record **bigger = stub_alloc(grown * sizeof *bigger);
        if (num_records > 0) {
            memcpy(bigger, records, num_records * sizeof *bigger);
        }
        records = bigger;
        max_records = grown;
    }
    records[num_records++] = record;
}

size_t stub_num_records(void)
{
    return num_records;
}

const struct stub_record *stub_record_at(size_t index)
{
    return records[index];
}

void stub_clear_records(void)
{
    num_records = 0;
}

/* The array itself is the arena's, which stub_reset() gives back. */
void stub_forget_records(void)
{
    records = NULL;
    num_records = 0;
    max_records = 0;
}

size_t stub_record_of(cl_event event)
{
    for (size_t i = 0; event != NULL && i < num_records; i++) {
        if (records[i]->event == event) {
            return i;
        }
    }
    return SIZE_MAX;
}

static bool waits_for(const struct stub_record *record, cl_event event)
{
    for (cl_uint i = 0; event != NULL && i < record->num_waits; i++) {
        if (record->waits[i] == event) {
            return true;
        }
    }
    return false;
}

static bool follows_directly(const struct stub_record *later, const struct stub_record *earlier)
{
    if (waits_for(later, earlier->event)) {
        return true;
    }
    if (later->queue != earlier->queue) {
        return false;
    }
    bool ordered = (later->queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
    bool waits_for_all = later->num_waits == 0 &&
                         (later->command == STUB_MARKER || later->command == STUB_BARRIER);
    return ordered || waits_for_all || earlier->command == STUB_BARRIER;
}

bool stub_record_depends(size_t later, size_t earlier)
{
    for (size_t i = earlier; i < later; i++) {
        if (follows_directly(records[later], records[i]) &&
                (i == earlier || stub_record_depends(i, earlier))) {
            return true;
        }
    }
    return false;
}

bool stub_record_awaits(size_t later, cl_event event)
{
    if (waits_for(records[later], event)) {
        return true;
    }
    for (size_t i = 0; i < later; i++) {
        if (follows_directly(records[later], records[i]) && stub_record_awaits(i, event)) {
            return true;
        }
    }
    return false;
}

long long stub_record_int(const struct stub_record *record, unsigned arg)
{
    cl_int narrow;
    cl_long wide;
    if (record->args[arg].size == sizeof narrow) {
        memcpy(&narrow, record->args[arg].bytes, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, record->args[arg].bytes, sizeof wide);
    return wide;
}

double stub_record_real(const struct stub_record *record, unsigned arg)
{
    cl_float narrow;
    cl_double wide;
    if (record->args[arg].size == sizeof narrow) {
        memcpy(&narrow, record->args[arg].bytes, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, record->args[arg].bytes, sizeof wide);
    return wide;
}

cl_mem stub_record_mem(const struct stub_record *record, unsigned arg)
{
    cl_mem buffer;
    memcpy(&buffer, record->args[arg].bytes, sizeof buffer);
    return buffer;
}
